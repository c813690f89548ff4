/* The part of SQLite that Usher calls (Debian: libsqlite3-0, to build: libsqlite3-dev). */
#ifndef USHER_CSQLITE_H
#define USHER_CSQLITE_H
#include <sqlite3.h>

/* Text, and bytes, that SQLite copies: its name for that is a cast, which Swift does not see. */
static inline int usher_sqlite3_bind_copy(sqlite3_stmt *statement, int place, const void *bytes, sqlite3_uint64 count)
{
    return sqlite3_bind_blob64(statement, place, count > 0 ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline int usher_sqlite3_bind_copied_text(sqlite3_stmt *statement, int place, const char *text)
{
    return sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT);
}

/* Has a file that somebody else wrote do nothing but hold rows. Takes a list of arguments, which Swift does not call. */
static inline int usher_sqlite3_defend(sqlite3 *database)
{
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
#endif
