"""What the pages of docs/texts say beside the rows of statements: openings, commands, pictures, speed."""
