"""What commands print: records of the library as tables, lines and live displays."""
