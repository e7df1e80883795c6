/** Why a goal is missed, by the name of its figure. */
export const WHY_MISSED: Readonly<Record<string, string>> = {
  'CPU per request against nginx serving the same bodies as files':
    'within the spread of the rounds; nginx with sendfile on costs more than Marquee here',
  'CPU per request against the same runtime answering constant bytes':
    'to read the path and Accept, find the record and its body, and count the answer costs about as much again as the runtime itself',
  'CPU per request against Varnish':
    'the HTTP server of the runtime alone takes 0.4 of the time of Varnish on Bun, and 0.8 on Node',
  'CPU per request against Hono (Marquee on Bun), Fastify (on Node)':
    'the HTTP server of the runtime alone takes 0.2 of the time of Hono, and 0.3 of that of Fastify',
  'CPU per request at 100000 events against nginx, 400000 files':
    'within the spread of the rounds; nginx with sendfile on costs more than Marquee here',
  'CPU per request at 100000 events against Varnish':
    'as with 10000 events: most of it is the HTTP server of the runtime',
  'p99.9 at half the peak load while 1 % of the records change each second':
    'on Bun the idle service is above 5 ms on that machine; on Node the garbage collector probably runs between the pages of a full read. Measured before all bodies fitted into memory',
  'page of 50, cold, 100000 events':
    'the machine was two to three times slower that day than the machine for which the goal was set: constant bytes took 17 \u00b5s instead of 6',
  'page of 50 with venues, cold, 100000 events':
    'the machine was two to three times slower that day than the machine for which the goal was set: constant bytes took 17 \u00b5s instead of 6',
  'page of 50, bodies ready, 1000000 events': 'not traced; the garbage collector of Node probably runs during the page',
  'page of 50, cold, 1000000 events':
    'the machine was two to three times slower that day than the machine for which the goal was set: constant bytes took 17 \u00b5s instead of 6',
  'page of 50 with venues, cold, 1000000 events':
    'the machine was two to three times slower that day than the machine for which the goal was set: constant bytes took 17 \u00b5s instead of 6',
  'worst filter, 1000000 events':
    'the machine was two to three times slower that day than the machine for which the goal was set: constant bytes took 17 \u00b5s instead of 6',
  'calendar of 1,000 of 100000 events, cold':
    'the machine was two to three times slower that day than the machine for which the goal was set: constant bytes took 17 \u00b5s instead of 6',
  'longest stall during a full read of 100000 rows, every row changed':
    'not traced; the garbage collector of Node probably runs in a turn',
  'longest stall during a full read of 1000000 rows, 1 % changed':
    'not traced; the garbage collector of Node probably runs in a turn',
  'longest stall during a full read of 1000000 rows, every row changed':
    'not traced; the garbage collector of the runtime probably runs in a turn',
  'longest stall while a snapshot is loaded, 100000 events':
    'Node had not compiled the code when the first slices of 1,000 rows were loaded; measured before slices ended by the clock',
  'second replica while a snapshot is loaded, against the records, 100000 events':
    'the old replica is released only once the new one is complete, and in resident memory a replica takes 2.1 to 2.7 times its row records',
  'second replica 10 s after a snapshot is loaded, 100000 events':
    'a collection forced after the cut-over would hold callers up for 43 to 95 ms on Bun; on Node it halves the buffers, but glibc keeps what is freed',
  'longest stall while a snapshot is loaded, 1000000 events':
    'not traced; a full garbage collection of Bun probably runs during the loading',
  'second replica while a snapshot is loaded, against the records, 1000000 events':
    'the old replica is released only once the new one is complete, and in resident memory a replica takes 2.1 to 2.7 times its row records',
  'second replica 10 s after a snapshot is loaded, 1000000 events':
    'a collection forced after the cut-over would hold callers up for 43 to 95 ms on Bun; on Node it halves the buffers, but glibc keeps what is freed',
  'longest time without changes after the leader is killed, with a maximum age of 30 s':
    'the longest of five; the median is below',
  'a follower, of a core':
    'most of it is the work for each entry of the log, twenty a second; a quarter is threads of the runtime. Measured before followers stopped listening to PostgreSQL',
  'growth of memory over the last 7000000 of 10000000 requests':
    'measured beside other work, and before all bodies fitted into memory; a later run by hand found 73 MB of 834 MB (9 %) on Bun and -9 MB on Node',
  'full read of 50000 rows by a connector of your own':
    'measured while other programs took most of both cores: the processor time of both processes on Node, start included, is 4.7 s',
  'memory of Marquee for 50000 rows by a connector of your own, beyond the records':
    "not traced; Node's young generation probably grows during the read",
}
