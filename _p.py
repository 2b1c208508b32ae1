import asyncio, sys, tempfile, os
from pathlib import Path
import bench.processes as P
P._AS_IN_PRODUCTION="exec(open('/tmp/kern/prof_run.py').read())"
P._KEPT=P._KEPT+("PROF",)
from bench import command
from bench.sides import *
from bench.slack import played_slack
from sandbox.ports import free_port
async def main():
    with tempfile.TemporaryDirectory() as d:
        async with played_slack(free_port()) as slack:
            async with bot_side(Way(sys.argv[1]), slack, Path(d)) as s:
                await s.burst(250,50)
                n=int(sys.argv[2]); k=int(sys.argv[3])
                u=s.process.cpu_seconds()
                await s.burst(n,k)
                print("cpu ms", 1000*(s.process.cpu_seconds()-u)/n)
    print(open("/tmp/kern/stat.txt").read())
asyncio.run(main())
