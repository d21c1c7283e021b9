"""What we are measured against."""
