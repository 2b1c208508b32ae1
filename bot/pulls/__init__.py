"""What becomes of a job: its pull request, the changes in it, its preview, and its reminder."""
