vcl 4.1;

import directors;
import std;

# Marquee behind Varnish: a cache that never carries an answer past the maximum age. Yours to change: the backends.
# TLS is for what stands before Varnish. Start it with a ceiling: varnishd -s malloc,256m -s Transient=malloc,64m
# (without one Transient has none). test/faults/proxies.test.ts runs this file as it is.

backend default {
  .host = "127.0.0.1";
  .port = "8080";
  .connect_timeout = 1s;
  # Longer than limits.waitFor (10s): a request may wait for a refresh.
  .first_byte_timeout = 15s;
  .between_bytes_timeout = 5s;
  .max_connections = 500;
}

# For another instance add a backend like this one under another name, and its line here.
sub vcl_init {
  new marquees = directors.round_robin();
  marquees.add_backend(default);
}

sub vcl_recv {
  set req.backend_hint = marquees.backend();

  # Marquee has no other methods, and its runtime closes the connection on one that it does not know. Never a pipe, in which
  # anything could follow.
  if (req.method != "GET" && req.method != "HEAD" && req.method != "OPTIONS") {
    return (synth(405));
  }

  # Several lines of Accept are one list to Marquee, and Varnish would look at the first alone: what is stored would not be
  # what the next caller with that line asked for.
  std.collect(req.http.Accept);

  # Nothing of these is looked at, so they must not make copies, nor keep an answer from the cache. Of lists the query says what is
  # asked, so only that of a record goes.
  unset req.http.Cookie;
  unset req.http.Authorization;
  # Always the full 200 (conditionalRequests: off), where Varnish would answer 304 and 206 itself. With conditionalRequests: on
  # take the line of If-None-Match out; the other two are not looked at either way.
  unset req.http.If-None-Match;
  unset req.http.If-Modified-Since;
  unset req.http.Range;
  if (req.url ~ "(?i)^[^?#]*/(events|venues)/[({]?[0-9a-f-]{32,36}[)}]?(/venue|\.ics)?/?\?") {
    set req.url = regsub(req.url, "\?.*$", "");
  }

  if (req.method == "OPTIONS") {
    return (pass);
  }

  # Answers vary by Accept, whose values are endless. The usual ones become the type they stand for, and share an answer; any
  # other is handed on as it is, and its answer is not cached. Marquee alone negotiates (RFC 9110 section 12.5.1).
  if (req.url ~ "(?i)^[^?#]*/events(/[^/?#]*)?\.ics/?(\?|$)") {
    # A calendar (feeds.calendar: on) is one whatever Accept says.
    set req.http.Accept = "text/calendar";
  } else if (!req.http.Accept || req.http.Accept == "" || req.http.Accept == "*/*" ||
      req.http.Accept == "application/json, text/plain, */*") {
    set req.http.Accept = "application/json";
  } else if (req.http.Accept ~ "^text/html,application/xhtml\+xml,application/xml;q=0\.9,(image/[a-z+]+,)*\*/\*;q=0\.8(,application/signed-exchange;v=b3;q=0\.7)?$") {
    # Elsewhere than at events and venues a browser may mean the page at the base path (describe: on).
    if (req.url !~ "(?i)^[^?]*/(events|venues)([/?]|$)") {
      return (pass);
    }
    set req.http.Accept = "application/xml";
  } else if (req.http.Accept ~ "(?i)^(application/json|text/json|application/xml|text/xml|application/hal\+json|application/hal\+xml|text/calendar|application/ld\+json)$") {
    # In any case, and kept once.
    set req.http.Accept = std.tolower(req.http.Accept);
  } else {
    return (pass);
  }
  return (hash);
}

sub vcl_hash {
  # Whatever the Host, the answer is the same.
  hash_data(req.url);
  return (lookup);
}

sub vcl_backend_fetch {
  # Nothing of these is looked at. What Marquee's runtime refuses of a body, such as a trailer, would be read as the answer to the
  # next request of the connection.
  unset bereq.body;
  set bereq.http.Host = "marquee";
}

sub vcl_backend_response {
  # Never past the maximum age: Varnish would go on for 10 s (default_grace) while it fetches, or cannot.
  set beresp.grace = 0s;
  set beresp.keep = 0s;
  if (beresp.http.Content-Type ~ "(json|xml|html|calendar)") {
    set beresp.do_gzip = true;
  }
  # An error, no-store, no-cache, nothing left of the maximum age, or a problem that tells a caller's own trace id: not kept. For a
  # second it is remembered that it is not (hit for miss), for else those who ask meanwhile would wait for one another.
  if (beresp.status >= 500 || beresp.http.Cache-Control ~ "no-(store|cache)" || beresp.ttl <= 0s ||
      (beresp.status >= 400 && bereq.http.traceparent)) {
    set beresp.uncacheable = true;
    set beresp.ttl = 1s;
  }
  return (deliver);
}

sub vcl_backend_error {
  # What no instance has begun to answer the next one is asked for, once.
  if (bereq.retries == 0) {
    return (retry);
  }
  # No instance answers at all; Marquee's own 502 goes through as it is.
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
