// What tests fail with.

/** Something that a test waited for did not come in time. */
export class NotSeen extends Error {
  name = 'NotSeen'
}

/** The traffic does not meet the expectations of the session. */
export class Unmet extends Error {
  name = 'Unmet'
}
