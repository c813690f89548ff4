"""What tests fail with."""


class NotSeen(AssertionError):
    """Something that a test waited for did not come in time."""


class Unmet(AssertionError):
    """The traffic does not meet the expectations of the session."""
