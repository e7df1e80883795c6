/** Why a goal is missed, by the name of its figure. */
export const WHY_MISSED: Readonly<Record<string, string>> = {
  'CPU per request against nginx serving the same bodies as files':
    'within the spread of the rounds; nginx with sendfile on costs more than Marquee here',
  'CPU per request against Varnish':
    'the HTTP server of the runtime alone takes 0.4 of the time of Varnish on Bun, and 0.9 on Node',
  'CPU per request against Hono (Marquee on Bun), Fastify (on Node)':
    'the HTTP server of the runtime alone takes 0.3 of the time of Hono, and 0.3 of that of Fastify',
  'CPU per request at 100000 events against nginx, 400000 files':
    'within the spread of the rounds; nginx with sendfile on costs more than Marquee here',
  'CPU per request at 100000 events against Varnish':
    'as with 10000 events: most of it is the HTTP server of the runtime',
  "CPU per request at 100000 events against 1000, ids by Zipf's law": 'within the spread of the rounds',
  'CPU per request at 100000 events against 1000':
    'within the spread of the rounds: most bodies are not in the caches of the processor',
  'CPU per request at 1000000 events against 1000':
    'within the spread of the rounds: neither records nor bodies are in the caches of the processor',
  'p99.9 at half the peak load while 1 % of the records change each second':
    'the machine: the same load without changes took 150 ms on Bun and 144 ms on Node, and constant bytes took 5 to 16 ms',
  'page of 50, bodies ready, 1000000 events':
    'traced: a collection of 14 ms falls into the 30 ms that 20,000 such pages take; the process also holds the records from which the benchmark makes its list',
  'page of 50, cold, 1000000 events':
    'the machine was twice as slow that day as the machine for which the goal was set: constant bytes took 12.7 \u00b5s instead of 6',
  'page of 50 with venues, bodies ready, 1000000 events':
    'the machine was twice as slow that day as the machine for which the goal was set: constant bytes took 12.7 \u00b5s instead of 6',
  'page of 50 with venues, cold, 1000000 events':
    'the machine was twice as slow that day as the machine for which the goal was set: constant bytes took 12.7 \u00b5s instead of 6',
  'worst filter, 1000000 events':
    'the machine was twice as slow that day as the machine for which the goal was set: constant bytes took 12.7 \u00b5s instead of 6',
  'calendar of 1,000 of 100000 events, cold':
    'the machine was twice as slow that day as the machine for which the goal was set: constant bytes took 12.7 \u00b5s instead of 6',
  'longest stall during a full read of 100000 rows, every row changed':
    'traced: a mark-compact collection of V8 takes 9 to 19 ms of a turn and a step of its marking up to 20 ms, beside a slice of 8 ms, all on the one core that the server has here',
  'longest stall during a full read of 1000000 rows, 1 % changed':
    'the garbage collectors: JavaScriptCore reports pauses of up to 30 ms in a process with a million rows; on Node as with every row changed',
  'longest stall during a full read of 1000000 rows, every row changed':
    'the garbage collectors: on Node as traced with 100000 rows; JavaScriptCore reports pauses of up to 30 ms in a process with a million rows',
  'memory of Marquee for 50000 rows by a connector of your own, beyond the records':
    'traced: the heap of JavaScriptCore grows to 67 MB before it is collected, and holds 52 MB after it',
  'longest turn while a connector parses 50 MB at once':
    'traced: a mark-compact collection of V8 takes up to 14 ms of a turn there; the turns of a later run, without one, took 2 to 9 ms',
  'spawn until the last id answers, the sample':
    'the machine: measured beside it there, the version of 2026-11-22, which met the goals elsewhere, took 0.9 of the processor time',
  'spawn until the last id answers, 100000 events': 'the machine, as with the sample',
  'spawn until the last id answers, 1000000 events': 'the machine, as with the sample',
  'longest stall while a snapshot is loaded, 100000 events':
    'a mark-compact collection of V8, as traced with 1000000 events; five programs share two cores meanwhile',
  'second replica while a snapshot is loaded, against the records, 100000 events':
    'the old replica is released only once the new one is complete, and in resident memory a replica takes 2.1 to 2.7 times its row records',
  'second replica 10 s after a snapshot is loaded, 100000 events':
    'a collection forced after the cut-over would hold callers up for 43 to 95 ms on Bun; on Node it halves the buffers, but glibc keeps what is freed',
  'longest stall while a snapshot is made, 1000000 events':
    'a mark-compact collection of V8, as while a snapshot is loaded; the leader and the measuring program share two cores with the store',
  'longest stall while a snapshot is loaded, 1000000 events':
    'traced: no stall; while the leader wrote the new snapshot, the data of the follower reached the maximum age of 30 s, and a request waited 4 s for newer data. The benchmark has a longer maximum age since; five later loads, beside other work, held requests up for 23 to 38 ms, of which a mark-compact collection of V8 took up to 37 ms',
  'second replica while a snapshot is loaded, against the records, 1000000 events':
    'the old replica is released only once the new one is complete, and in resident memory a replica takes 2.1 to 2.7 times its row records',
  'second replica 10 s after a snapshot is loaded, 1000000 events':
    'a collection forced after the cut-over would hold callers up for 43 to 95 ms on Bun; on Node it halves the buffers, but glibc keeps what is freed',
  'publish-to-visible, p99': 'eleven processes share two cores of a slow machine; the median is within its goal',
  'a follower, of a core':
    'most of it is the work for each entry of the log, twenty a second; a quarter is threads of the runtime',
}
