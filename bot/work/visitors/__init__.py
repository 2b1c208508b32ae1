"""Questions about visitors: fetch the numbers, build the report, send the answer."""
