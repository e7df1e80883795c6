vcl 4.1;

import vsthrottle;

# marquee.vcl, which has to lie beside it, with the limits that marquee.conf has for nginx: for a Varnish with vsthrottle, which is
# in Debian's package varnish-modules. A caller is the address that Varnish sees: let what ends TLS before it speak the PROXY
# protocol (varnishd -a :6086,PROXY), or all callers have one address, and one limit. test/faults/proxies.test.ts runs this file.

sub vcl_recv {
  # Lists (lists: on) cost some ten times what a record does, and each query is one of its own. A list has endless spellings
  # (/api//../events/., %2e, \), so whatever is not a record counts as one.
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
