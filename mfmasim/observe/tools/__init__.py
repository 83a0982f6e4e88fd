"""Tools beside the checks: observers that show, count or change what a launch does, and find nothing wrong."""
