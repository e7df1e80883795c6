"""How Marquee reads our CRM: `our_crm.py LIST WAY` prints each row as a line of JSON (docs/crm/your-own.md)."""
import json, sys, time, urllib.error, urllib.parse, urllib.request

settings = json.load(sys.stdin)
list_name, way, *argument = sys.argv[1:]

def ask(path, **query):
    url = f"{settings['url']}/{path}?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {settings['token']}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return json.load(response, parse_float=str)  # 12.50 stays 12.50
    except urllib.error.HTTPError as error:
        if error.code == 429 and (pause := error.headers.get("Retry-After", "5")).isdigit() and int(pause) < 15:
            return time.sleep(int(pause)) or ask(path, **query)
        kind = {401: "refused", 403: "refused", 429: "throttled"}.get(error.code, "broken")
        sys.exit(print(f"#fail {kind} the API answers {error.code}"))

query = {"changed_since": argument[0]} if way == "since" else {}
page, rows, count = 1, None, 0
while rows != []:
    rows = ask(list_name, page=page, per_page=100, **query)["data"]
    for row in rows:
        print(json.dumps([row["id"], row["changed"]] if way == "ids" else row))
    page, count = page + 1, count + len(rows)
print(f"#total {count}")
