"""Tools: observers that show, count or change the behaviour of a launch, without findings."""
