"""What an error has to be, whatever the input."""


def check_error(error):
    """One line of moderate length that cannot steer a terminal."""
    text = str(error)
    assert text
    assert text.isprintable(), text
    assert len(text) < 2000, text
