"""Questions about visitors: fetched, reported, answered."""
