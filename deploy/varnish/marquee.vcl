vcl 4.1;

import directors;
import std;

# Marquee behind Varnish: a cache that never serves an answer past the maximum age. Change the backends. TLS must end before
# Varnish. Limit the memory: varnishd -s malloc,256m -s Transient=malloc,64m (Transient is unlimited by default).
# test/faults/proxies.test.ts runs this file.

backend default {
  .host = "127.0.0.1";
  .port = "8080";
  .connect_timeout = 1s;
  # Longer than limits.waitFor (10s), because a request may wait for a refresh.
  .first_byte_timeout = 15s;
  .between_bytes_timeout = 5s;
  .max_connections = 500;
}

# For each further instance, add a backend with another name, and two lines for it here.
sub vcl_init {
  new marquees = directors.round_robin();
  marquees.add_backend(default);
  # A caller of changes keeps to one instance: others may be a moment behind, and may not know its position.
  new marquee_of_caller = directors.hash();
  marquee_of_caller.add_backend(default, 1.0);
}

sub vcl_recv {
  # No path of Marquee is as long as this. The patterns below would exceed Varnish's limits, and the caller would get 503.
  if (req.url ~ "^[^?#]{2000}") {
    return (synth(414));
  }

  set req.backend_hint = marquees.backend();

  # Marquee accepts only these methods, and its runtime closes the connection if it does not know a method. By default Varnish would
  # pipe unknown methods, and then pass on whatever follows without looking at it.
  if (req.method != "GET" && req.method != "HEAD" && req.method != "OPTIONS") {
    return (synth(405));
  }

  # Joins several Accept headers to one list. Varnish would compare only the first, and could give a caller an answer in a format
  # that another caller asked for.
  std.collect(req.http.Accept);

  # Marquee ignores these headers, and the query of a record's URL. They are removed so that they neither prevent caching nor cause
  # copies. Lists need their query.
  unset req.http.Cookie;
  unset req.http.Authorization;
  # By default (conditionalRequests: off) every answer is a full 200, but Varnish would answer with 304 and 206. If you set
  # conditionalRequests: on, remove the line with If-None-Match. Marquee always ignores the other two headers.
  unset req.http.If-None-Match;
  unset req.http.If-Modified-Since;
  unset req.http.Range;
  if (req.url ~ "(?i)^[^?#]*/(events|venues)/[({]?[0-9a-f-]{32,36}[)}]?(/venue|\.ics)?/?\?") {
    set req.url = regsub(req.url, "\?.*$", "");
  }

  if (req.method == "OPTIONS") {
    return (pass);
  }

  # An answer may wait for a change (feeds.changes: on): none is kept, and no caller waits for the answer of another.
  if (req.url ~ "(?i)^[^?#]*/changes/?(\?|$)") {
    set req.backend_hint = marquee_of_caller.backend(client.identity);
    return (pass);
  }

  # Answers vary by Accept, which has no end of possible values. Varnish replaces the usual values by the media type that they
  # select, so their answers are cached under that type. It passes on any other value unchanged and does not cache the answer: only
  # Marquee negotiates (RFC 9110 section 12.5.1).
  if (req.url ~ "(?i)^[^?#]*/events(/[^/?#]*)?\.ics/?(\?|$)") {
    # A path that ends in .ics is a calendar (feeds.calendar: on), whatever Accept says.
    set req.http.Accept = "text/calendar";
  } else if (req.url ~ "(?i)^[^?#]*/events\.atom/?(\?|$)") {
    # A path that ends in .atom is Atom (feeds.atom: on).
    set req.http.Accept = "application/atom+xml";
  } else if (!req.http.Accept || req.http.Accept == "" || req.http.Accept == "*/*" ||
      req.http.Accept == "application/json, text/plain, */*") {
    set req.http.Accept = "application/json";
  } else if (req.http.Accept ~ "^text/html,application/xhtml\+xml,application/xml;q=0\.9,(image/[a-z+]+,)*\*/\*;q=0\.8(,application/signed-exchange;v=b3;q=0\.7)?$") {
    # For events and venues, a browser's Accept selects XML. Elsewhere it may select the page at the base path (describe: on).
    if (req.url !~ "(?i)^[^?]*/(events|venues|tags)([/?]|$)") {
      return (pass);
    }
    set req.http.Accept = "application/xml";
  } else if (req.http.Accept ~ "(?i)^(application/json|text/json|application/xml|text/xml|application/hal\+json|application/hal\+xml|text/calendar|application/ld\+json)$") {
    # Upper and lower case must share one cached answer.
    set req.http.Accept = std.tolower(req.http.Accept);
  } else {
    return (pass);
  }
  return (hash);
}

sub vcl_hash {
  # The answer does not depend on Host, so the key does not contain it.
  hash_data(req.url);
  return (lookup);
}

sub vcl_backend_fetch {
  # Marquee uses no body and no Host. If its runtime refused a part of a body, such as a trailer, Varnish would take that error for
  # the answer to the next request on the connection.
  unset bereq.body;
  set bereq.http.Host = "marquee";
  if (bereq.url ~ "(?i)^[^?#]*/changes/?(\?|$)") {
    # Longer than a caller may wait for a change.
    set bereq.first_byte_timeout = 65s;
  }
}

sub vcl_backend_response {
  # Never serve an answer past the maximum age. By default Varnish would do so for 10 s (default_grace), while it fetches a new one
  # or cannot reach Marquee.
  set beresp.grace = 0s;
  set beresp.keep = 0s;
  if (beresp.http.Content-Type ~ "(json|xml|html|calendar)") {
    set beresp.do_gzip = true;
  }
  # Errors, no-store, no-cache, answers at their maximum age, and 4xx answers that contain a caller's trace id are not cached. Varnish
  # remembers for a second that they are not (hit-for-miss); otherwise concurrent requests would wait for one another.
  if (beresp.status >= 500 || beresp.http.Cache-Control ~ "no-(store|cache)" || beresp.ttl <= 0s ||
      (beresp.status >= 400 && bereq.http.traceparent)) {
    set beresp.uncacheable = true;
    set beresp.ttl = 1s;
  }
  return (deliver);
}

sub vcl_backend_error {
  # If the instance has not begun to answer, ask the next one, once.
  if (bereq.retries == 0) {
    set bereq.backend = marquees.backend();
    return (retry);
  }
  # No instance answers. Marquee's own 502 does not come here; it passes through unchanged.
  set beresp.status = 502;
  set beresp.reason = "Bad Gateway";
  set beresp.ttl = 0s;
  set beresp.http.Content-Type = "application/problem+json";
  set beresp.http.Retry-After = "5";
  set beresp.http.Cache-Control = "no-store";
  set beresp.http.Vary = "Accept";
  set beresp.http.X-Content-Type-Options = "nosniff";
  set beresp.http.Access-Control-Allow-Origin = "*";
  set beresp.http.Access-Control-Expose-Headers = "ETag, Age, Link, Retry-After";
  set beresp.body = {"{"type":"about:blank","title":"Bad Gateway","status":502,"detail":"The service cannot be reached. Try again after the seconds that Retry-After names.""} + "}";
  return (deliver);
}

sub vcl_synth {
  if (resp.status == 414) {
    set resp.http.Content-Type = "application/problem+json";
    set resp.http.Cache-Control = "no-store";
    set resp.http.Vary = "Accept";
    set resp.http.X-Content-Type-Options = "nosniff";
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.Access-Control-Expose-Headers = "ETag, Age, Link, Retry-After";
    set resp.body = {"{"type":"about:blank","title":"URI Too Long","status":414,"detail":"No path here is that long.""} + "}";
    return (deliver);
  }
  if (resp.status == 405) {
    set resp.http.Content-Type = "application/problem+json";
    set resp.http.Allow = "GET, HEAD, OPTIONS";
    set resp.http.Cache-Control = "no-store";
    set resp.http.Vary = "Accept";
    set resp.http.X-Content-Type-Options = "nosniff";
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.Access-Control-Expose-Headers = "ETag, Age, Link, Retry-After";
    set resp.body = {"{"type":"about:blank","title":"Method Not Allowed","status":405,"detail":"This resource can only be read: use GET or HEAD.""} + "}";
    return (deliver);
  }
}
