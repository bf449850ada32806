"""The shapes of secrets that say by themselves what they are: what they begin with, what follows.

The shapes are what their issuers publish, as of 2026-11-22. One of them is looked for only where
its prefix, or for a pattern its mark, stands in the text, and is compiled only then.
"""

from typing import Final, NamedTuple

_WORD: Final = r"[A-Za-z0-9]"
_WIDE: Final = r"[A-Za-z0-9_-]"
_HEX: Final = r"[0-9a-f]"
_UUID: Final = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"


BASIC: Final = "basic-authorization"
"""What is a user and a password in base64."""


class Token(NamedTuple):
    """A kind of token: prefixes in their case, and the pattern of the rest."""

    kind: str
    prefixes: tuple[str, ...]
    rest: str


class SecretShape(NamedTuple):
    """A kind of secret without a prefix of its own.

    `marks` stand in every text that has one (in lower case), and the pattern's first group is
    the secret. It must start where no other match can, so that it runs in linear time.
    """

    kind: str
    marks: tuple[str, ...]
    pattern: str


def _exactly(what: str, length: int) -> str:
    return f"{what}{{{length}}}(?!{_WORD})"


def _at_least(what: str, length: int) -> str:
    return f"{what}{{{length},}}"


# A token has 20 characters or more without a space; what is shorter stands among the COMMANDS.
TOKENS: Final = (
    Token("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), _exactly("[A-Z2-7]", 16)),
    Token("aws-bedrock-key", ("ABSK",), _at_least(r"[A-Za-z0-9+/]", 100) + "={0,2}"),
    Token("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _at_least(_WORD, 36)),
    Token("github-fine-grained-token", ("github_pat_",), _at_least(r"[A-Za-z0-9_]", 50)),
    Token(
        "gitlab-token",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glsoat-",
            "gloas-",
            "glptt-",
            "glagent-",
            "glft-",
            "glcbt-",
            "glimt-",
            "glffct-",
            "glwt-",
            "GR1348941",
        ),
        _at_least(_WIDE, 20),
    ),
    Token(
        "slack-token",
        ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xoxp-"),
        _at_least(_WIDE, 24),
    ),
    Token("slack-app-token", ("xapp-",), r"[0-9]-[A-Z0-9]{8,}-[0-9]{8,}-[A-Za-z0-9]{20,}"),
    Token("slack-webhook", ("https://hooks.slack.com/",), r"[a-z]+/[A-Za-z0-9/]{30,}"),
    Token(
        "discord-webhook",
        ("https://discord.com/api/webhooks/", "https://discordapp.com/api/webhooks/"),
        rf"[0-9]{{15,}}/{_WIDE}{{50,}}",
    ),
    Token("stripe-key", ("sk_live_", "rk_live_", "sk_test_", "rk_test_"), _at_least(_WORD, 16)),
    Token("webhook-signing-secret", ("whsec_",), _at_least(r"[A-Za-z0-9+/=]", 24)),
    Token("google-api-key", ("AIza",), _exactly(_WIDE, 35)),
    Token("google-client-secret", ("GOCSPX-",), _exactly(_WIDE, 28)),
    Token("google-access-token", ("ya29.",), _at_least(_WIDE, 40)),
    Token("anthropic-key", ("sk-ant-",), _at_least(_WIDE, 40)),
    Token("openrouter-key", ("sk-or-v1-",), _at_least(_HEX, 48)),
    Token("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), _at_least(_WIDE, 40)),
    Token("model-provider-key", ("sk-",), _at_least(_WORD, 32)),
    Token("groq-key", ("gsk_",), _at_least(_WORD, 40)),
    Token("xai-key", ("xai-",), _at_least(_WORD, 60)),
    Token("perplexity-key", ("pplx-",), _at_least(_WORD, 40)),
    Token("replicate-token", ("r8_",), _at_least(_WORD, 37)),
    Token("langsmith-key", ("lsv2_pt_", "lsv2_sk_"), rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    Token("huggingface-token", ("hf_", "api_org_"), _at_least(r"[A-Za-z]", 34)),
    Token("npm-token", ("npm_",), _exactly(_WORD, 36)),
    Token("pypi-token", ("pypi-AgE",), _at_least(_WIDE, 50)),
    Token("rubygems-key", ("rubygems_",), _exactly(_HEX, 48)),
    Token("crates-token", ("cio",), _exactly(_WORD, 32)),
    Token("docker-token", ("dckr_pat_", "dckr_oat_"), _at_least(_WIDE, 27)),
    Token("sendgrid-key", ("SG.",), rf"{_WIDE}{{20,24}}\.{_WIDE}{{39,50}}"),
    Token("twilio-key", ("SK",), _exactly(_HEX, 32)),
    Token("mailgun-key", ("key-",), _exactly(_HEX, 32)),
    Token("brevo-key", ("xkeysib-", "xsmtpsib-"), rf"{_HEX}{{64}}-{_WORD}{{16}}"),
    Token("json-web-token", ("eyJ",), rf"{_WIDE}{{8,}}\.eyJ{_WIDE}{{8,}}\.{_WIDE}{{16,}}"),
    Token("databricks-token", ("dapi", "dose"), _exactly(_HEX, 32)),
    Token("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), _exactly(_HEX, 64)),
    Token(
        "shopify-token",
        ("shpat_", "shpss_", "shpca_", "shppa_", "shptka_"),
        _exactly("[0-9a-fA-F]", 32),
    ),
    Token("heroku-key", ("HRKU-",), _at_least(_WIDE, 36)),
    Token("linear-key", ("lin_api_", "lin_oauth_"), _at_least(_WORD, 32)),
    Token("notion-token", ("ntn_", "secret_"), _at_least(_WORD, 43)),
    Token("atlassian-token", ("ATATT3", "ATCTT3"), _at_least(r"[A-Za-z0-9_=-]", 60)),
    Token("airtable-token", ("pat",), rf"{_WORD}{{14}}\.{_HEX}{{64}}"),
    Token("figma-token", ("figd_", "figo_"), _at_least(_WIDE, 38)),
    Token("grafana-token", ("glsa_",), rf"{_WORD}{{32}}_[0-9A-Fa-f]{{8}}"),
    Token("grafana-cloud-token", ("glc_",), _at_least(r"[A-Za-z0-9+/=]", 40)),
    Token("vault-token", ("hvs.", "hvb.", "hvr."), _at_least(_WIDE, 24)),
    Token("new-relic-key", ("NRAK-", "NRJS-", "NRII-"), _at_least(_WIDE, 19)),
    Token("pulumi-token", ("pul-",), _exactly(_HEX, 40)),
    Token("postman-key", ("PMAK-",), rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    Token(
        "planetscale-secret",
        ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
        _at_least(r"[\w.=-]", 32),
    ),
    Token("sentry-token", ("sntrys_", "sntryu_"), _at_least(r"[A-Za-z0-9+/=_]", 40)),
    Token(
        "doppler-token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."), rf"[\w.]{{0,40}}{_WORD}{{40}}"
    ),
    Token("netlify-token", ("nfp_", "nfc_"), _at_least(_WORD, 36)),
    Token("supabase-key", ("sbp_", "sb_secret_"), _at_least(r"[A-Za-z0-9_]", 24)),
    Token("square-token", ("sq0atp-", "sq0csp-", "EAAA"), _at_least(_WIDE, 22)),
    Token("dynatrace-token", ("dt0c01.",), r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    Token("tailscale-key", ("tskey-",), rf"[a-z]+-{_WORD}{{8,}}-{_WORD}{{16,}}"),
    Token("alibaba-access-key", ("LTAI",), _at_least(_WORD, 16)),
    Token("amazon-mws-token", ("amzn.mws.",), _UUID),
    Token("amazon-client-secret", ("amzn1.oa2-cs.v1.",), _exactly(_HEX, 64)),
    Token("pinecone-key", ("pcsk_",), _at_least(r"[A-Za-z0-9_]", 40)),
    Token("nuget-key", ("oy2",), _exactly("[a-z0-9]", 43)),
    Token("artifactory-key", ("AKCp",), _at_least(_WORD, 60)),
    Token("artifactory-token", ("cmVmdGtu",), _at_least(_WORD, 56)),
    Token(
        "discord-token",
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        rf"{_WIDE}{{22,26}}\.{_WIDE}{{6}}\.{_WIDE}{{27,45}}(?!{_WIDE})",
    ),
    Token("bitbucket-token", ("ATBB",), _at_least(_WORD, 32)),
    Token("trello-token", ("ATTA",), _exactly("[0-9A-Fa-f]", 72)),
    Token("vercel-token", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), _at_least(_WORD, 24)),
    Token("circleci-token", ("CCIPAT_", "CCIPRJ_"), rf"{_WORD}{{16,}}_{_HEX}{{40}}"),
    Token("buildkite-token", ("bkua_",), _exactly(_HEX, 40)),
    Token("sonar-token", ("sqp_", "sqa_", "squ_"), _exactly(_HEX, 40)),
    Token("snyk-token", ("snyk_uat.",), _at_least(r"[\w.-]", 40)),
    Token("sourcegraph-token", ("sgp_", "sgd_"), _at_least(r"[0-9a-zA-Z_]", 40)),
    Token("openshift-token", ("sha256~",), _exactly(_WIDE, 43)),
    Token("octopus-key", ("API-",), _exactly("[A-Z0-9]", 26)),
    Token("hubspot-token", ("pat-na1-", "pat-na2-", "pat-eu1-"), _UUID),
    Token("mapbox-secret", ("sk.eyJ",), rf"{_WIDE}{{50,}}\.{_WIDE}{{20,}}"),
    Token("posthog-key", ("phx_",), _at_least(_WORD, 40)),
    Token("neon-key", ("napi_",), _at_least(_WORD, 40)),
    Token("render-key", ("rnd_",), _at_least(_WORD, 24)),
    Token("resend-key", ("re_",), rf"{_WORD}{{8}}_{_WORD}{{20,}}"),
    Token("mailersend-token", ("mlsn.",), _exactly(_HEX, 64)),
    Token("paddle-key", ("pdl_live_", "pdl_sdbx_"), _at_least(r"[A-Za-z0-9_]", 40)),
    Token("paypal-token", ("access_token$production$",), rf"[0-9a-z]{{16}}\${_HEX}{{32}}"),
    Token("plaid-token", ("access-production-", "access-sandbox-"), _UUID),
    Token("razorpay-key", ("rzp_live_",), _at_least(_WORD, 14)),
    Token("flutterwave-key", ("FLWSECK-", "FLWSECK_TEST-"), rf"{_WORD}{{32,}}-X"),
    Token("easypost-key", ("EZAK", "EZTK"), _exactly(_WORD, 54)),
    Token("shippo-token", ("shippo_live_", "shippo_test_"), _exactly(_HEX, 40)),
    Token("duffel-token", ("duffel_live_", "duffel_test_"), _exactly(_WIDE, 43)),
    Token("facebook-token", ("EAA",), _at_least(_WORD, 90)),
    Token("instagram-token", ("IGQV", "IGAA"), _at_least(_WIDE, 90)),
    Token("x-bearer-token", ("AAAAAAAAAAAAAAAAAAAAA",), _at_least("[A-Za-z0-9%]", 60)),
    Token("dropbox-token", ("sl.u.", "sl.B"), _at_least(_WIDE, 100)),
    Token("adobe-client-secret", ("p8e-",), _exactly(_WIDE, 32)),
    Token("contentful-token", ("CFPAT-",), _exactly(_WIDE, 43)),
    Token("clickup-token", ("pk_",), rf"[0-9]{{6,}}_[A-Z0-9]{{32}}(?!{_WORD})"),
    Token("typeform-token", ("tfp_",), _at_least(_WIDE, 40)),
    Token("readme-key", ("rdme_",), _at_least("[a-z0-9]", 60)),
    Token("prefect-key", ("pnu_", "pnb_"), _exactly(_WORD, 36)),
    Token("dbt-token", ("dbtc_", "dbtu_"), _at_least(_WIDE, 32)),
    Token("infracost-key", ("ico-",), _exactly(_WORD, 32)),
    Token("aiven-password", ("AVNS_",), _at_least(_WIDE, 16)),
    Token("mongodb-atlas-secret", ("mdb_sa_sk_",), _at_least(_WIDE, 32)),
    Token("axiom-token", ("xaat-", "xapt-"), _UUID),
    Token("launchdarkly-key", ("sdk-", "api-"), _UUID),
    Token("nvidia-key", ("nvapi-",), _at_least(_WIDE, 60)),
    Token("cerebras-key", ("csk-",), _at_least(_WORD, 40)),
    Token("fireworks-key", ("fw_",), _at_least(_WORD, 22)),
    Token("together-key", ("tgp_v1_",), _at_least(_WIDE, 40)),
    Token("tavily-key", ("tvly-",), _at_least(_WIDE, 30)),
    Token("firecrawl-key", ("fc-",), _exactly(_HEX, 32)),
    Token("jina-key", ("jina_",), _at_least(_WIDE, 50)),
    Token("e2b-key", ("e2b_",), _exactly(_HEX, 40)),
    Token("langfuse-key", ("sk-lf-",), _UUID),
    Token("llamacloud-key", ("llx-",), _at_least(_WORD, 40)),
    Token("elevenlabs-key", ("sk_",), _exactly(_HEX, 48)),
    Token("wandb-key", ("wandb_v1_",), _at_least(r"[A-Za-z0-9_]", 40)),
    Token("apify-token", ("apify_api_",), _at_least(_WORD, 36)),
    Token("logfire-token", ("pylf_v1_",), _at_least(r"[A-Za-z0-9_]", 40)),
    Token("onesignal-key", ("os_v2_app_", "os_v2_org_"), _at_least("[a-z0-9]", 80)),
    Token("tencent-secret-id", ("AKID",), _exactly(_WORD, 32)),
    Token("yandex-key", ("AQVN",), _at_least(_WIDE, 35)),
    Token("firebase-server-key", ("AAAA",), rf"{_WIDE}{{7}}:APA91b{_WIDE}{{100,}}"),
    Token("google-refresh-token", ("1//0",), _at_least(_WIDE, 40)),
    Token(
        "onepassword-secret-key",
        ("A3-",),
        r"[A-Z0-9]{6}-[A-Z0-9]{6,11}-(?:[A-Z0-9]{5}-){2,3}[A-Z0-9]{5}",
    ),
    Token("zapier-webhook", ("https://hooks.zapier.com/hooks/catch/",), r"[0-9]+/[a-z0-9]{6,}"),
    Token("twitch-stream-key", ("live_",), rf"[0-9]{{6,12}}_{_WORD}{{28,}}"),
    Token("adafruit-key", ("aio_",), _exactly(_WORD, 28)),
    Token("thunderstore-token", ("tss_",), _at_least(_WORD, 24)),
    Token("socket-token", ("sktsec_",), _at_least(_WIDE, 30)),
    Token("flyio-token", ("FlyV1 fm2_", "fo1_"), _at_least(r"[A-Za-z0-9+/=_,-]", 40)),
    Token("age-secret-key", ("AGE-SECRET-KEY-1",), _at_least(r"[A-Z0-9]", 50)),
    Token("onepassword-token", ("ops_eyJ",), _at_least(_WIDE, 80)),
    Token(
        "private-key",
        ("-----BEGIN ",),
        r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?>(?:\s|\\n|\\r)*)(?>(?:[A-Za-z-]{3,20}: [^\n]{0,120}\n\s{0,8}){0,6})"
        r"(?:(?>(?:[A-Za-z0-9+/=\s]|\\n|\\r){64,})(?:-----END [A-Z0-9 ]{1,40}-----)?"
        r"|(?=[A-Za-z+/]{0,62}[0-9])[A-Za-z0-9+/]{12}"
        r"(?>(?:[A-Za-z0-9+/=\s]|\\n|\\r){0,63})-----END [A-Z0-9 ]{1,40}-----)",
    ),
    Token(
        "putty-private-key",
        ("PuTTY-User-Key-File-",),
        r"[23]: (?>(?:(?!Private-Lines)[^\n]{0,200}\n\s{0,8}){1,200})"
        r"Private-Lines: [0-9]{1,3}\s+[A-Za-z0-9+/=\s]{40,}+",
    ),
)

SHAPES: Final = (
    SecretShape(
        "session-cookie",
        ("sess", "connect.sid", "aspnetcore", "remember_", "__secure-", "__host-"),
        r"(?i)(?<![\w.-])(?:sessionid|connect\.sid|jsessionid|phpsessid|asp\.net_sessionid|[a-z]{1,12}sessid"
        r"|\.aspnetcore\.[a-z.]{1,40}|_?[a-z]{2,20}_session|remember_(?:me|token|web_\w{1,60})"
        r"|__(?:secure|host)-[\w.-]{1,40}|(?:next-)?auth(?:js)?[._-]session-token)"
        r"=(?=[^\s;]{0,64}[0-9])([^\s;,\"'&<>${}()\[\]]{16,})",
    ),
    SecretShape(
        "session-cookie",
        ("cookie",),
        r"(?i)cookie[\"']?(?:: | |=)[\"']?[^\n]{0,200}?(?<![\w.-])"
        r"[\w.-]{0,24}(?:sess|sid|auth|token|jwt|login)"
        r"[\w.-]{0,24}=(?=[^\s;]{0,64}[0-9])([^\s;,\"'&<>${}()\[\]]{16,})",
    ),
    SecretShape(
        "telegram-token",
        (":aa",),
        rf"(?:(?<![A-Za-z0-9])|(?<=/bot))([0-9]{{8,10}}:AA{_WIDE}{{33}})(?!{_WIDE})",
    ),
    SecretShape(
        "azure-client-secret",
        ("q~",),
        r"(?<![\w.~-])([A-Za-z0-9_.-]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,34})(?![\w~-])",
    ),
    SecretShape(
        "azure-storage-key",
        ("accountkey", "sharedaccesskey"),
        r"(?<=[Kk]ey=)([A-Za-z0-9+/]{43,88}={1,2})(?![A-Za-z0-9+/=])",
    ),
    SecretShape(
        "azure-signed-url",
        ("sig=",),
        r"(?<=[?&;]sig=)([A-Za-z0-9%+/_-]{40,}={0,2})",
    ),
    SecretShape(
        "json-web-key",
        ('"kty"',),
        r"\"[kd]\"\s{0,3}:\s{0,3}\"([A-Za-z0-9_-]{20,})\"",
    ),
    SecretShape(
        "recovery-key",
        ("recovery", "bitlocker"),
        r"(?<![0-9-])([0-9]{6}(?:-[0-9]{6}){7})(?![0-9-])",
    ),
    SecretShape(
        "terraform-token",
        (".atlasv1.",),
        rf"(?<![\w.-])({_WORD}{{14}}\.atlasv1\.{_WIDE}{{60,}})",
    ),
    SecretShape(
        "mailchimp-key", ("-us",), rf"(?<!{_WORD})({_HEX}{{32}}-us[0-9]{{1,2}})(?!{_WORD})"
    ),
    SecretShape(
        "teams-webhook",
        ("webhook.office.com/",),
        r"(?<=webhook\.office\.com/webhookb2/)([A-Za-z0-9@/-]{80,})",
    ),
    SecretShape(
        "heroku-legacy-key",
        ("heroku",),
        rf"(?i)(?<![a-z0-9])heroku[^\n]{{0,40}}?(?:key|token)[^\n]{{0,20}}?"
        rf"({_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}})(?!{_WORD})",
    ),
    SecretShape(
        "authorization-header",
        ("bearer ", "authorization"),
        r"(?i)(?<![a-z0-9])(?:bearer {1,3}"
        r"|authorization[\"']?[:=] {0,3}[\"']?(?:[a-z-]{2,20} {1,3})?"
        r"(?=[a-z._~+/-]{0,40}[0-9]))([a-z0-9._~+/-]{20,}={0,2})",
    ),
)

COMMANDS: Final = (
    SecretShape(
        BASIC,
        ("basic ", "auth"),
        r"(?i)(?:(?<![a-z])basic {1,3}|(?<![a-z])_?auth(?:orization)?[\"']?"
        r"\s{0,3}[:=]\s{0,3}[\"']?(?:basic )?)"
        r"[\"']?([a-z0-9+/]{8,}={0,2})",
    ),
    SecretShape(
        "pgpass-password",
        (":5432:", ":*:", ":6432:", ":5433:"),
        r"(?<![\w.*:/-])[\w.*-]{1,100}:(?:[0-9]{4,5}|\*):[\w*.-]{1,64}:[\w.@+*-]{1,64}:([^\s:`\"']{6,128})",
    ),
    SecretShape(
        "command-password",
        ("curl", "wget", "http "),
        r"(?<!\S)(?:-u|-U|--user|--proxy-user|--auth|-a)[= ]{1,3}"
        r"[\"']?[^\s:\"'<>$]{1,64}:([^\s\"'<>$]{4,})",
    ),
    SecretShape(
        "connection-password",
        ("@tcp(", "@unix("),
        r"(?<![\w.-])[\w.-]{1,64}:([^\s\"'`<>{}]{4,128})@(?:tcp|unix)\(",
    ),
    SecretShape("command-password", ("sshpass",), r"sshpass {1,3}-p {0,3}[\"']?([^\s\"'<>$]{4,})"),
    SecretShape(
        "command-password",
        ("<(echo ", "<(printf "),
        r"(?i)(?:pass|pw|secret|token|credential)[\w-]{0,24}[ =]<\((?:echo|printf) {1,3}(?:-n )?"
        r"[\"']?([^\s\"'<>$()]{6,})",
    ),
    SecretShape(
        "command-password",
        ("<<<",),
        r"(?<!\S)(?:sudo -S|--password-stdin|--stdin|--with-token|--passphrase-fd)(?!\S)"
        r"[^\n<]{0,120}<<< {0,3}[\"']?(?=[^\s\"'<>$]{0,64}[0-9])([^\s\"'<>$]{6,})",
    ),
    SecretShape(
        "command-password",
        ("net use ",),
        r"(?i)(?<!\S)net use (?=[^\n]{0,300}/user)(?:[a-z*]: ?|\* )?\\\\[^\s/]{1,200} {1,3}"
        r"(?:/user:\S{1,64} {1,3})?[\"']?(?=[^\s\"'*/<>$%]{0,64}[0-9])"
        r"([^\s\"'*/<>$%][^\s\"'<>]{3,})",
    ),
    SecretShape(
        "command-password",
        ("net user ",),
        r"(?i)(?<!\S)net user [\w.\\-]{1,64} (?=[^\s]{0,64}[0-9])([^\s/*\"'<>$%][^\s\"'<>]{5,64})",
    ),
    SecretShape(
        "one-time-password-seed",
        ("totp", "hotp", "otp ", "2fa", "mfa", "authenticator"),
        r"(?i:(?<![a-z0-9])(?:t?otp|hotp|2fa|mfa|authenticator)(?![a-z]))[^\n]{0,40}?"
        r"(?<![\w./-])(?=[A-Z]{0,31}[2-7])(?=[2-7]{0,8}[A-Z])([A-Z2-7]{16,64})(?![\w./-])",
    ),
    SecretShape(
        "connection-password",
        ("jdbc:oracle:",),
        r"(?i)jdbc:oracle:[a-z0-9]{1,8}:[^\s/@:]{1,64}/([^\s@\"'<>${]{4,128})@",
    ),
    SecretShape(
        "netrc-password",
        ("login ",),
        r"(?<!\S)login\s{1,3}\S{1,64}\s{1,3}password\s{1,3}([^\s\"'<>${]{4,})",
    ),
)
