vcl 4.1;

import vsthrottle;

# marquee.vcl, which must be in the same directory, with the same limits as nginx/marquee.conf. It needs vsthrottle (Debian:
# varnish-modules). Limits apply to each address that Varnish sees. If TLS ends at a proxy before Varnish, use the PROXY protocol
# (varnishd -a :6086,PROXY); otherwise all callers share one limit. test/faults/proxies.test.ts runs this file.

sub vcl_recv {
  # No path of Marquee is as long as this. The patterns below would exceed Varnish's limits, and the caller would get 503.
  if (req.url ~ "^[^?#]{2000}") {
    return (synth(414));
  }

  # Lists (lists: on) have a separate limit, because a list costs about ten times as much as a record and each query is cached
  # separately. A list's path can be written in many ways (/api//../events/., %2e, \), so every path that is not a record's counts.
  if (vsthrottle.is_denied("all " + client.ip, 200, 2s) ||
      (req.url !~ "(?i)^[^?#]*/(events|venues)/[({]?[0-9a-f-]{32,36}[)}]?(/venue|\.ics)?/?(\?|$)" && vsthrottle.is_denied("lists " + client.ip, 60, 3s))) {
    return (synth(429));
  }
}

sub vcl_synth {
  if (resp.status == 429) {
    set resp.http.Content-Type = "application/problem+json";
    set resp.http.Retry-After = "1";
    set resp.http.Cache-Control = "no-store";
    set resp.http.Vary = "Accept";
    set resp.http.X-Content-Type-Options = "nosniff";
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.Access-Control-Expose-Headers = "ETag, Age, Link, Retry-After";
    set resp.body = {"{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"Ask less often. Try again after the seconds that Retry-After names.""} + "}";
    return (deliver);
  }
}

include "./marquee.vcl";
