"""Tokens of more issuers, as they publish them."""

from typing import Final

from tests.core.secrets.drawing import DIGITS, HEX, LOWER, UPPER, WIDE, WORD, Maker, parts, token

LOWERED: Final = LOWER + DIGITS
UUID: Final = ((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))
TOKENS: Final[tuple[tuple[str, Maker], ...]] = (
    *(
        ("gitlab-token", token(f"{name}-", WIDE, 20))
        for name in ("glcbt", "glimt", "glffct", "glwt")
    ),
    ("gitlab-token", token("GR1348941", WIDE, 20)),
    *(
        ("slack-token", parts(f"{name}-1-", (WORD, 120)))
        for name in ("xoxc", "xoxd", "xoxe", "xoxe.xoxp")
    ),
    ("shopify-token", token("shptka_", HEX, 32)),
    ("databricks-token", token("dose", HEX, 32)),
    ("planetscale-secret", token("pscale_oauth_", WIDE, 43)),
    ("figma-token", token("figo_", WIDE, 40)),
    ("amazon-mws-token", parts("amzn.mws.", *UUID)),
    ("amazon-client-secret", token("amzn1.oa2-cs.v1.", HEX, 64)),
    ("pinecone-key", parts("pcsk_", (WORD, 5), "_", (WORD, 63))),
    ("nuget-key", token("oy2", LOWERED, 43)),
    ("artifactory-key", token("AKCp", WORD, 69)),
    ("artifactory-token", token("cmVmdGtu", WORD, 56)),
    *(
        ("discord-token", parts(start, (WORD, 24), ".", (WIDE, 6), ".", (WIDE, 38)))
        for start in ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
    ),
    ("bitbucket-token", token("ATBB", WORD, 32)),
    ("trello-token", token("ATTA", HEX, 72)),
    *(("vercel-token", token(f"vc{letter}_", WORD, 56)) for letter in "piark"),
    *(
        ("circleci-token", parts(f"CCI{name}_", (WORD, 22), "_", (HEX, 40)))
        for name in ("PAT", "PRJ")
    ),
    ("buildkite-token", token("bkua_", HEX, 40)),
    *(("sonar-token", token(f"sq{letter}_", HEX, 40)) for letter in "pau"),
    ("snyk-token", parts("snyk_uat.", (HEX, 8), ".", (WIDE, 50))),
    *(("sourcegraph-token", parts(f"sg{letter}_", (HEX, 16), "_", (HEX, 40))) for letter in "pd"),
    ("openshift-token", token("sha256~", WIDE, 43)),
    ("octopus-key", token("API-", UPPER + DIGITS, 26)),
    *(("hubspot-token", parts(f"pat-{name}-", *UUID)) for name in ("na1", "na2", "eu1")),
    ("mapbox-secret", parts("sk.eyJ", (WORD, 70), ".", (WIDE, 22))),
    ("posthog-key", token("phx_", WORD, 43)),
    ("neon-key", token("napi_", LOWERED, 64)),
    ("render-key", token("rnd_", WORD, 28)),
    ("resend-key", parts("re_", (WORD, 8), "_", (WORD, 24))),
    ("mailersend-token", token("mlsn.", HEX, 64)),
    *(("paddle-key", token(f"pdl_{name}_", WORD, 50)) for name in ("live", "sdbx")),
    ("paypal-token", parts("access_token$production$", (LOWERED, 16), "$", (HEX, 32))),
    *(("plaid-token", parts(f"access-{name}-", *UUID)) for name in ("production", "sandbox")),
    ("razorpay-key", token("rzp_live_", WORD, 14)),
    *(("flutterwave-key", parts(f"FLWSECK{name}-", (WORD, 32), "-X")) for name in ("", "_TEST")),
    *(("easypost-key", token(f"E{letter}", WORD, 54)) for letter in ("ZAK", "ZTK")),
    *(("shippo-token", token(f"shippo_{name}_", HEX, 40)) for name in ("live", "test")),
    *(("duffel-token", token(f"duffel_{name}_", WIDE, 43)) for name in ("live", "test")),
    ("facebook-token", token("EAA", WORD, 150)),
    *(("instagram-token", token(name, WIDE, 120)) for name in ("IGQV", "IGAA")),
    ("x-bearer-token", token("AAAAAAAAAAAAAAAAAAAAA", WORD, 90)),
    *(("dropbox-token", token(name, WIDE, 130)) for name in ("sl.u.", "sl.B")),
    ("adobe-client-secret", token("p8e-", WIDE, 32)),
    ("contentful-token", token("CFPAT-", WIDE, 43)),
    ("clickup-token", parts("pk_", (DIGITS, 8), "_", (UPPER + DIGITS, 32))),
    ("typeform-token", token("tfp_", WIDE, 59)),
    ("readme-key", token("rdme_", LOWERED, 70)),
    *(("prefect-key", token(f"pn{letter}_", WORD, 36)) for letter in "ub"),
    *(("dbt-token", token(f"dbt{letter}_", WIDE, 40)) for letter in "cu"),
    ("infracost-key", token("ico-", WORD, 32)),
    ("aiven-password", token("AVNS_", WIDE, 19)),
    ("mongodb-atlas-secret", token("mdb_sa_sk_", WIDE, 40)),
    *(("axiom-token", parts(f"xa{letter}t-", *UUID)) for letter in "ap"),
    *(("launchdarkly-key", parts(f"{name}-", *UUID)) for name in ("sdk", "api")),
    ("nvidia-key", token("nvapi-", WIDE, 64)),
    ("cerebras-key", token("csk-", LOWERED, 48)),
    ("fireworks-key", token("fw_", WORD, 24)),
    ("together-key", token("tgp_v1_", WIDE, 43)),
    ("tavily-key", token("tvly-", WORD, 32)),
    ("firecrawl-key", token("fc-", HEX, 32)),
    ("jina-key", token("jina_", WIDE, 60)),
    ("e2b-key", token("e2b_", HEX, 40)),
    ("langfuse-key", parts("sk-lf-", *UUID)),
    ("llamacloud-key", token("llx-", WORD, 48)),
    ("elevenlabs-key", token("sk_", HEX, 48)),
    ("wandb-key", token("wandb_v1_", WORD, 77)),
    ("apify-token", token("apify_api_", WORD, 36)),
    ("logfire-token", parts("pylf_v1_us_", (WORD, 43))),
    *(("onesignal-key", token(f"os_v2_{name}_", LOWERED, 103)) for name in ("app", "org")),
    ("tencent-secret-id", token("AKID", WORD, 32)),
    ("yandex-key", token("AQVN", WIDE, 36)),
    ("firebase-server-key", parts("AAAA", (WORD, 7), ":APA91b", (WIDE, 134))),
    ("google-refresh-token", token("1//0", WIDE, 100)),
    (
        "onepassword-secret-key",
        parts("A3-", (UPPER, 6), "-", (UPPER, 6), *("-", (UPPER, 5)) * 4),
    ),
    (
        "zapier-webhook",
        parts("https://hooks.zapier.com/hooks/catch/", (DIGITS, 8), "/", (LOWERED, 7)),
    ),
    ("adafruit-key", token("aio_", WORD, 28)),
    ("twitch-stream-key", parts("live_", (DIGITS, 9), "_", (WORD, 30))),
    ("thunderstore-token", token("tss_", WORD, 32)),
    ("socket-token", token("sktsec_", WIDE, 40)),
)
"""Kinds that are known by what they begin with, and how one of each is made."""
