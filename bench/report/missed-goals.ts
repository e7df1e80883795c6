/** Why a goal is missed, by the name of its figure. */
export const WHY_MISSED: Readonly<Record<string, string>> = {
  'CPU per request against nginx serving the same bodies as files':
    'within the spread of the rounds; nginx with sendfile on costs more than Marquee here',
  'CPU per request against the same runtime answering constant bytes':
    'reading the path and Accept, finding the record and its body, and counting the answer cost as much again as the runtime itself does',
  'CPU per request against Varnish':
    'the HTTP server of the runtime alone takes 0.4 of what Varnish does on Bun, and 0.8 on Node',
  'CPU per request against Hono (Marquee on Bun), Fastify (on Node)':
    'the HTTP server of the runtime alone takes 0.2 of what Hono does, and 0.3 of what Fastify does',
  'CPU per request at 100000 events against nginx, 400000 files':
    'within the spread of the rounds; nginx with sendfile on costs more than Marquee here',
  'CPU per request at 100000 events against Varnish':
    'as with 10000 events: most of it is the HTTP server of the runtime',
  'p99.9 at half the peak load while 1 % of the records change each second':
    'on Bun the idle service is above 5 ms on that machine; on Node probably the collector runs between the pages of a full read. Measured before all bodies had room',
  'page of 50, cold, 100000 events':
    'this machine was two to three times slower that day than the one of the goal: constant bytes took it 17 \u00b5s, and that one 6',
  'page of 50 with venues, cold, 100000 events':
    'this machine was two to three times slower that day than the one of the goal: constant bytes took it 17 \u00b5s, and that one 6',
  'page of 50, bodies ready, 1000000 events': 'not traced; probably the collector of Node runs during the page',
  'page of 50, cold, 1000000 events':
    'this machine was two to three times slower that day than the one of the goal: constant bytes took it 17 \u00b5s, and that one 6',
  'page of 50 with venues, cold, 1000000 events':
    'this machine was two to three times slower that day than the one of the goal: constant bytes took it 17 \u00b5s, and that one 6',
  'worst filter, 1000000 events':
    'this machine was two to three times slower that day than the one of the goal: constant bytes took it 17 \u00b5s, and that one 6',
  'calendar of 1,000 of 100000 events, cold':
    'this machine was two to three times slower that day than the one of the goal: constant bytes took it 17 \u00b5s, and that one 6',
  'longest stall during a full read of 100000 rows, every row changed':
    'not traced; probably the collector of Node runs in a turn',
  'longest stall during a full read of 1000000 rows, 1 % changed':
    'not traced; probably the collector of Node runs in a turn',
  'longest stall during a full read of 1000000 rows, every row changed':
    'not traced; probably the collector of the runtime runs in a turn',
  'longest stall while a snapshot is loaded, 100000 events':
    'not traced; probably Node has not compiled the code when the first slices are loaded',
  'second replica at a swap, against the records, 100000 events':
    'the new replica is complete before the old one is let go, and probably the runtime keeps freed memory for a while',
  'what is left of it after 10 s, 100000 events': 'not traced; probably the runtime keeps freed memory for longer',
  'longest stall while a snapshot is loaded, 1000000 events':
    'not traced; probably a whole collection of Bun falls into the loading',
  'second replica at a swap, against the records, 1000000 events':
    'the new replica is complete before the old one is let go, and probably the runtime keeps freed memory for a while',
  'what is left of it after 10 s, 1000000 events': 'not traced; probably the runtime keeps freed memory for longer',
  'longest silence where the leader is killed, with a maximum age of 30 s': 'the longest of five; the median is below',
  'a follower, of a core':
    'most of it is for each entry of the log, twenty a second; a quarter is threads of the runtime. Measured before followers stopped listening to PostgreSQL',
  'growth of memory over the last 7000000 of 10000000 requests':
    'measured beside other work, and before all bodies had room; to be repeated',
  'full read of 50000 rows by a connector of one’s own':
    'measured while other programs took most of both cores: the processor time of both processes on Node, start included, is 4.7 s',
  'memory of Marquee for 50000 rows by a connector of one’s own, beyond the records':
    'not traced; probably the young generation of Node grows during the read',
}
