/* libyaml's parser, event by event (Debian: libyaml-0-2, to build: libyaml-dev). */
#ifndef USHER_CYAML_H
#define USHER_CYAML_H
#include <yaml.h>
#endif
