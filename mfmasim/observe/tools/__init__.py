"""Tools beside the checks: observers that show, count or change what a launch does, without findings."""
