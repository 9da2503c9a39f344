"""How `forensics capture` makes a small anonymous file that still shows a finding."""
