"""What `forensics check` holds a scan against: baselines, locks, expectations, suppressions; and `diff`."""
