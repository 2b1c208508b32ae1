"""Tests of the sandbox's docs service, over real HTTP."""
