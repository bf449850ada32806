"""Four technical conversations with logs, code, files and decisions, and what must come first."""

from typing import Final


def _log(lines: str, times: int) -> str:
    """Machine output: the same lines over and over, with running numbers."""
    return "\n".join(f"{line} [{turn}]" for turn in range(times) for line in lines.splitlines())


INVOICES: Final[dict[str, str]] = {
    "goal": "We need a service that reads supplier invoices from a mailbox and books them.",
    "goal ok": "Understood. I would split it into a fetcher, a reader and a booker.",
    "fetch": "Put the mailbox part into mailbox_poller.py, it should keep the last seen UID.",
    "fetch ok": "Done. It polls once a minute and stores the UID after each batch.",
    "try it": "Does it survive a broken connection?",
    "tests 1": _log("tests/reader/test_reader.py::test_reads_queue_of_invoices PASSED\n"
                    "tests/queue/test_broker.py::test_message_broker_picks_queue PASSED\n"
                    "tests/queue/test_choose.py::test_chosen_broker_is_used PASSED", 16),
    "survives": "Yes, it reconnects with a growing delay.",
    "queue": "Next question: how do the three parts talk to each other?",
    "options": "Either Redis streams, RabbitMQ or a plain table in Postgres.",
    "broker": "Then let us pick RabbitMQ as the message broker, operations know it already.",
    "broker ok": "Fine. I will write the producer first and come back with a load test.",
    "load": "Here is the first load test, what do you think?",
    "load log": _log("INFO broker message published queue=invoices\n"
                     "INFO broker message acknowledged queue=invoices", 30),
    "slow": "The reader is the bottleneck: p95 is 340 ms per page, the rest is waiting.",
    "slow why": "Where does it spend the time?",
    "profile": "In parse_line_items, it compiles the same pattern again for each line.",
    "fix": "Then cache it.",
    "cached": "Done, p95 fell to 95 ms.",
    "crash": "It crashed over night on the invoice of the paper mill.",
    "trace": "Traceback (most recent call last):\n"
             '  File "/srv/app/reader/tables.py", line 88, in rows\n'
             "    amount = Decimal(cell)\ndecimal.InvalidOperation: [<class 'ConversionSyntax'>]",
    "cause": "The mill writes thousands with an apostrophe, which the parser does not know.",
    "locale": "Strip it before the conversion and add the mill's file to the samples.",
    "locale ok": "Added. The whole suite passes again, see below.",
    "tests 2": _log("tests/reader/test_tables.py::test_rows_of_the_paper_mill PASSED\n"
                    "tests/reader/test_amounts.py::test_thousands PASSED\n"
                    "tests/booking/test_ledger.py::test_books_to_ledger PASSED", 14),
    "secrets": "Where do the mailbox credentials come from? They must not be in the image.",
    "vault": "The pod reads INVOICE_MAILBOX_TOKEN from the secret store at start.",
    "nice": "Good. And who rotates it?",
    "rotate": "A job does it on the first of each month; the pod picks it up without a restart.",
    "memory": "The pod was killed twice today.",
    "oom": "kubectl says OOMKilled, exit code 137. The limit is 256 MiB at present.",
    "raise": "Raise it, but find out why it grows.",
    "leak": "PdfDocument handles were never closed; close_all() in the finally block cures it.",
    "verify": "How does it look since?",
    "flat": "Flat at 140 MiB for two days.",
    "duplicate": "Accounting says that one invoice was booked twice.",
    "idem": "The booker retried after a timeout. I added an idempotency key, supplier and number.",
    "migrate": "That needs a column. Migration 0042_add_booking_key does it.",
    "review": "Looks right to me, ship it.",
    "shipped": "Shipped as v1.8.3 to both clusters.",
    "rest": "What is still open?",
    "todo": "Only the dashboard, and the ticket INV-2291 about credit notes.",
    "later": "Credit notes can wait until the new quarter.",
    "bye": "Agreed, then we are done for today.",
}  # fmt: skip

MAPS: Final[dict[str, str]] = {
    "start": "The map viewer stutters while one drags, mostly on phones.",
    "ask": "Which layer is it? Try to switch them off one by one.",
    "layer": "The cadastre. Without it, dragging is smooth.",
    "tiles": "Those are vector tiles with far too many points per polygon.",
    "simplify": "Could we simplify them on the server?",
    "tool": "tippecanoe can drop the densest features, or we do it in PostGIS.",
    "decide": "We settled on PostGIS for simplifying, with a tolerance of 0.5 m.",
    "ok 1": "I will prepare it.",
    "sql": "CREATE MATERIALIZED VIEW parcel_simple AS\n"
           "SELECT id, ST_SimplifyPreserveTopology(geom, 0.5) AS geom FROM parcel;",
    "refresh": "How often must the view be refreshed?",
    "nightly": "Once a night is enough, the cadastre office delivers weekly.",
    "build": _log("[build] tile cache layer parcel zoom written\n"
                  "[build] cache warm tile layer storage parcel ok", 40),
    "size": "That was the build. It takes 41 min and 12 GB.",
    "too big": "Too much for the small disk.",
    "cache": "Where should the tiles be cached then?",
    "store": "Let us use the object storage as tile cache, with a lifetime of one week.",
    "cdn": "And a CDN in front?",
    "no cdn": "Not for now, the traffic is too low.",
    "ok 2": "Okay, I will wire it up.",
    "config": "Configured in config/tileserver.toml, section [storage].",
    "check": "Does it need a restart?",
    "reload": "No, SIGHUP is enough.",
    "cors": "In the browser I only see grey squares now.",
    "console": "Access to fetch at 'https://tiles.example.org/14/8514/5492.pbf' has been blocked "
               "by CORS policy: No 'Access-Control-Allow-Origin' header is present.",
    "bucket": "The bucket has no rule for our host.",
    "rule": "I added one, please reload without cache.",
    "works": "Works. But some tiles answer with an error.",
    "errors": _log("GET /14/8514/5492.pbf 200 tile cache hit\n"
                   "GET /14/8515/5493.pbf 200 tile cache miss layer parcel", 35),
    "403": "Those are 403 from the storage: tiles that were never built answer like that.",
    "map to 404": "We should turn that into an empty tile.",
    "handler": "handleMissingTile in src/map/fallback.ts returns an empty buffer for it.",
    "good": "Nice and short.",
    "phone": "How is it on the old phone?",
    "fps": "From 18 fps up to 55 fps.",
    "react": "While I was there I saw a warning: useEffect has a missing dependency.",
    "which": "Which component?",
    "legend": "In LegendPanel.tsx, it forgets the zoom.",
    "fix it": "Fix it along the way.",
    "done": "Done, together with the print button.",
    "print": "The print button never worked in Firefox, did it?",
    "canvas": 'No, "tainted canvas" was the reason: the tiles came from another host.',
    "so": "So the rule on the bucket cured that too.",
    "end": "It did. I close the ticket.",
    "release": "Do you want a release today?",
    "monday": "No, release on Monday, Jana is away until then.",
}  # fmt: skip

EXPORTS: Final[dict[str, str]] = {
    "open": "The export of large reports is slow, and sometimes the export fails.",
    "kind": "Which export, the one of reports or the one of customers?",
    "reports": "Reports. The report export goes through a queue, the customer export does not.",
    "first look": "Then I start with the report export and measure each step of an export.",
    "code": "import csv\n\ndef export_rows(rows, path):\n    # export.py, the old version\n"
            "    with open(path, 'w') as target:\n        writer = csv.writer(target)\n"
            "        for row in rows:\n            writer.writerow([row.name, row.total])\n"
            "        target.flush()\n    return path\n" + "    # nothing else happens here\n" * 12,
    "streams": "csv streams the rows of an export, so memory is no error of this export.",
    "memory": "Memory stays below 90 MB during an export, no error in the log either.",
    "py": "I ran it under py-spy: the export waits for the database.",
    "timeout q": "Is it a timeout of the database or a timeout of the proxy?",
    "timeout a": "The proxy has a timeout of one minute, the database has no timeout.",
    "error page": "So the user sees the error page of the proxy, not an error of ours.",
    "log": _log("WARN proxy timeout waiting for upstream export error\n"
                "ERROR proxy upstream timeout, error 504 sent to client", 25),
    "raised": "In the worker it ends as ExportTimeoutError, raised from queue/worker.py.",
    "where": "Where is the timeout of the worker set?",
    "set": "EXPORT_TIMEOUT in settings/base.py, it is 50 seconds.",
    "longer": "A longer timeout only hides the error.",
    "agree": "Agreed. The export has to become faster, and the timeout stays.",
    "explain": "EXPLAIN shows a sequential scan on report_lines, no index on the report.",
    "index": "An index on report_id would do, shall I add an index?",
    "yes index": "Yes. Do it concurrently, the table is large.",
    "added": "Added: CREATE INDEX CONCURRENTLY report_lines_report_idx.",
    "index log": _log("index build: scanning report_lines\nindex build: sorting report_lines", 20),
    "result": "The export takes 4 s instead of 70 s with the index.",
    "great": "Great, is the error gone too?",
    "gone": "No error and no timeout since yesterday.",
    "search": "Customers want to search in the exports as well.",
    "engines": "Meilisearch or plain Postgres full text search, one search engine is enough.",
    "search log": _log("tests/search/test_search_engine.py::test_search_engine_finds PASSED\n"
                       "tests/search/test_pick_engine.py::test_engine_picked PASSED", 20),
    "green": "The search tests are green with either engine.",
    "picked": "We picked Postgres full text as search engine, one service less to run.",
    "fine": "Fine with me.",
    "cleanup": "What about the old code?",
    "remove": "I removed export.py and moved what was left into reports/csvfile.py.",
    "docs": "Please mention the new export in the docs.",
    "docs ok": "The docs of the export are written, and the docs of the search too.",
    "limit": "What is the limit of rows per export now?",
    "million": "One million rows; MAX_EXPORT_ROWS says so, beyond it the export is split.",
    "split": "Split how?",
    "parts": "Into files of one million rows each, as a zip.",
    "ok": "Okay.",
    "deploy": "Deploy on Thursday, after the backup.",
    "deployed": "Deployed. The first export of the day took 3.8 s.",
    "thanks": "Thanks, the export is what we wanted.",
}  # fmt: skip

SENSORS: Final[dict[str, str]] = {
    "hello": "Hi! I want to collect the readings of about 400 humidity sensors in a greenhouse.",
    "plan": "Nice project. I would have each sensor publish its readings over MQTT to a small "
            "broker in the greenhouse, a collector that subscribes to all topics and writes the "
            "readings in batches, and a database made for time series. The readings of a sensor "
            "are small, so a batch of a thousand readings is well below one megabyte. For the "
            "charts any dashboard that speaks SQL will do. Which database do you prefer?",
    "db q": "What would you take, InfluxDB or TimescaleDB?",
    "db": "TimescaleDB, since you know SQL and want to join readings with the plan of the beds.",
    "db ok": "Good, TimescaleDB it is.",
    "collector": "Here is a first collector.py:\n\nimport asyncio\nimport aiomqtt\n\n"
                 "async def collect(sink):\n    async with aiomqtt.Client('broker') as client:\n"
                 "        await client.subscribe('beds/+/humidity')\n"
                 "        async for message in client.messages:\n"
                 "            await sink.put(message.payload)\n",
    "run": "I started the collector, it prints readings. How do I test the collector?",
    "tests": "Use a fake broker: tests/fakebroker.py keeps subscriptions in a dictionary. The "
             "collector does not notice the difference, and the test of the collector runs "
             "without a network. Give the collector a queue of its own in each test, else the "
             "readings of one test show up in the next one. A collector that is cancelled "
             "must flush its batch, so write a test for that too.",
    "output": _log("tests/test_collector.py::test_collector_subscribes PASSED\n"
                   "tests/test_collector.py::test_collector_flushes PASSED\n"
                   "tests/test_database.py::test_database_sensor_readings PASSED", 18),
    "wow": "All green.",
    "night": "This morning the collector was dead.",
    "trace": "Traceback (most recent call last):\n"
             '  File "/opt/greenhouse/collector.py", line 21, in collect\n'
             "    async for message in client.messages:\n"
             "aiomqtt.exceptions.MqttError: Disconnected during message iteration",
    "why": "The broker restarted after its update, and nothing connects again. Catch it outside "
           "of the loop, wait a little, and connect anew; double the wait up to a minute.",
    "again": "Works, I pulled the plug of the broker and it came back.",
    "full": "Now the disk is nearly full.",
    "df": "/dev/mmcblk0p2  29G  27G  1.1G  97% /",
    "retain": "Keep raw readings for 30 days and hourly means for ever: add_retention_policy for "
              "the first, a continuous aggregate for the second.",
    "how long": "Are 30 days enough to find a leak?",
    "leak": "A leak shows within hours, so yes.",
    "broker log": _log("1718000000: New client connected from 10.0.0.7 as sensor-117\n"
                       "1718000001: Client sensor-117 closed its connection\n"
                       "1718000002: Sending PUBACK to sensor-117 database leak none", 22),
    "flap": "One of them comes and goes all the time.",
    "weak": "Its supply sags: measure it, below 3.1 V the radio resets.",
    "volts": "2.9 V. I ordered new cells, CR123A.",
    "alarm": "And how do I get an alarm if a bed dries out?",
    "rule": "A rule in alerts.yaml: below 35 percent for 20 minutes, then a message.",
    "sms": "By mail or by SMS?",
    "mail": "SMS, nobody reads mail in the greenhouse.",
    "gateway": "Then the gateway needs a SIM card; ModemManager sends with mmcli.",
    "decided": "We decided against the cloud gateway because of its monthly fee.",
    "backup": "How do I back up the database?",
    "dump": "pg_dump every night, copied to the office with rsync.",
    "ok": "Thanks, that is all.",
}  # fmt: skip

FIRST: Final[dict[str, list[tuple[str, str]]]] = {
    "invoices": [
        ("mailbox_poller.py", "fetch"),
        ("mailbox_poller", "fetch"),
        ("where did we put mailbox_poller.py", "fetch"),
        ("parse_line_items", "profile"),
        ("InvalidOperation", "trace"),
        ("decimal.InvalidOperation", "trace"),
        ("ConversionSyntax", "trace"),
        ("tables.py", "trace"),
        ("what failed in reader/tables.py", "trace"),
        ("which message broker did we pick", "broker"),
        ("why did we choose the broker", "broker"),
        ("RabbitMQ decision", "broker"),
        ("OOMKilled", "oom"),
        ("exit code 137", "oom"),
        ("256 MiB", "oom"),
        ("why was the pod OOMKilled", "oom"),
        ("close_all", "leak"),
        ("PdfDocument", "leak"),
        ("what was wrong with PdfDocument handles in the reader", "leak"),
        ("INVOICE_MAILBOX_TOKEN", "vault"),
        ("0042_add_booking_key", "migrate"),
        ("idempotency key", "idem"),
        ("v1.8.3", "shipped"),
        ("INV-2291", "todo"),
        ("340 ms", "slow"),
        ("apostrophe", "cause"),
        ("credit notes", "later"),
        ("which invoice was booked twice", "duplicate"),
    ],
    "maps": [
        ("PostGIS tolerance", "decide"),
        ("ST_SimplifyPreserveTopology", "sql"),
        ("parcel_simple", "sql"),
        ("where do we cache the tiles", "store"),
        ("which tile cache did we decide to use", "store"),
        ("tileserver.toml", "config"),
        ("config/tileserver.toml", "config"),
        ("how is config/tileserver.toml reloaded", "config"),
        ("SIGHUP", "reload"),
        ("CORS", "console"),
        ("Access-Control-Allow-Origin", "console"),
        ("handleMissingTile", "handler"),
        ("fallback.ts", "handler"),
        ("LegendPanel.tsx", "legend"),
        ("useEffect warning", "react"),
        ("tippecanoe", "tool"),
        ("12 GB", "size"),
        ('"tainted canvas"', "canvas"),
        ("Firefox", "print"),
        ("55 fps", "fps"),
        ("403", "403"),
        ("Jana", "monday"),
        ("lifetime of the tile cache", "store"),
    ],
    "exports": [
        ("ExportTimeoutError", "raised"),
        ("where is ExportTimeoutError raised", "raised"),
        ("worker.py", "raised"),
        ("EXPORT_TIMEOUT", "set"),
        ("base.py", "set"),
        ("settings/base.py timeout", "set"),
        ("MAX_EXPORT_ROWS", "million"),
        ("report_lines_report_idx", "added"),
        ("which search engine did we pick", "picked"),
        ("what search engine was picked", "picked"),
        ("py-spy", "py"),
        ("90 MB", "memory"),
        ("csvfile.py", "remove"),
        ("sequential scan", "explain"),
    ],
    "sensors": [
        ("fakebroker.py", "tests"),
        ("tests/fakebroker.py", "tests"),
        ("MqttError", "trace"),
        ("when did we see MqttError in the collector", "trace"),
        ("aiomqtt.exceptions.MqttError", "trace"),
        ("which database did we choose for the sensor readings", "plan"),
        ("TimescaleDB or InfluxDB", "db"),
        ("alerts.yaml", "rule"),
        ("2.9 V", "volts"),
        ("CR123A", "volts"),
        ("add_retention_policy", "retain"),
        ("sensor-117", "broker log"),
        ("why did we decide against the cloud gateway", "decided"),
        ("continuous aggregate", "retain"),
        ("SIM card", "gateway"),
        ("mmcli", "gateway"),
        ("pg_dump", "dump"),
        ("leak", "leak"),
        ("how long do we keep raw readings", "retain"),
        ("how fast does a leak show", "leak"),
    ],
}
