"""What an attacker who knows some items of a person can find out."""
