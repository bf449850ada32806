"""The shapes of secrets that are recognised without a name: how they begin, and what follows.

The shapes are what their issuers publish, as of 2026-11-22. One of them is looked for only where
its prefix, or for a pattern its mark, stands in the text, and is compiled only then.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

from pmem.values.patterns import lazily

if TYPE_CHECKING:
    import re

_WORD: Final = r"[A-Za-z0-9]"
_WIDE: Final = r"[A-Za-z0-9_-]"
_HEX: Final = r"[0-9a-f]"
_UUID: Final = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"


BASIC: Final = "basic-authorization"
"""What is a user and a password in base64."""


class Secret(NamedTuple):
    """A secret in a text: its kind, such as `github-token`, and where it starts and ends."""

    kind: str
    start: int
    end: int


class Token(NamedTuple):
    """A kind of token: prefixes in their case, and the pattern of the rest."""

    kind: str
    prefixes: tuple[str, ...]
    rest: "re.Pattern[str]"


class SecretShape(NamedTuple):
    """A kind of secret without a prefix of its own.

    `marks` stand in every text that has one (in lower case), and the pattern's first group is
    the secret. It must start where no other match can, so that it runs in linear time.
    """

    kind: str
    marks: tuple[str, ...]
    pattern: "re.Pattern[str]"


def alternatives(text: str) -> tuple[str, ...]:
    """Return what bars separate in a text."""
    return tuple(text.split("|"))


def _token(kind: str, prefixes: str, rest: str) -> Token:
    return Token(kind, tuple(prefixes.split(", ")), lazily(rest))


def _shape(kind: str, marks: str, pattern: str) -> SecretShape:
    return SecretShape(kind, alternatives(marks), lazily(pattern))


def _exactly(what: str, length: int) -> str:
    return f"{what}{{{length}}}(?!{_WORD})"


def _at_least(what: str, length: int) -> str:
    return f"{what}{{{length},}}"


# A token has 20 characters or more without a space; what is shorter stands among the COMMANDS.
TOKENS: Final = (
    _token("aws-access-key", "AKIA, ASIA, ABIA, ACCA", _exactly("[A-Z2-7]", 16)),
    _token("aws-bedrock-key", "ABSK", _at_least(r"[A-Za-z0-9+/]", 100) + "={0,2}"),
    _token("github-token", "ghp_, gho_, ghu_, ghs_, ghr_", _at_least(_WORD, 36)),
    _token("github-fine-grained-token", "github_pat_", _at_least(r"[A-Za-z0-9_]", 50)),
    _token(
        "gitlab-token",
        "glpat-, gldt-, glrt-, glsoat-, gloas-, glptt-, glagent-, glft-, glcbt-, glimt-, "
        "glffct-, glwt-, GR1348941",
        _at_least(_WIDE, 20),
    ),
    _token(
        "slack-token",
        "xoxb-, xoxp-, xoxa-, xoxr-, xoxs-, xoxc-, xoxd-, xoxe-, xoxe.xoxp-",
        _at_least(_WIDE, 24),
    ),
    _token("slack-app-token", "xapp-", r"[0-9]-[A-Z0-9]{8,}-[0-9]{8,}-[A-Za-z0-9]{20,}"),
    _token("slack-webhook", "https://hooks.slack.com/", r"[a-z]+/[A-Za-z0-9/]{30,}"),
    _token(
        "discord-webhook",
        "https://discord.com/api/webhooks/, https://discordapp.com/api/webhooks/",
        rf"[0-9]{{15,}}/{_WIDE}{{50,}}",
    ),
    _token("stripe-key", "sk_live_, rk_live_, sk_test_, rk_test_", _at_least(_WORD, 16)),
    _token("webhook-signing-secret", "whsec_", _at_least(r"[A-Za-z0-9+/=]", 24)),
    _token("google-api-key", "AIza", _exactly(_WIDE, 35)),
    _token("google-client-secret", "GOCSPX-", _exactly(_WIDE, 28)),
    _token("google-access-token", "ya29.", _at_least(_WIDE, 40)),
    _token("anthropic-key", "sk-ant-", _at_least(_WIDE, 40)),
    _token("openrouter-key", "sk-or-v1-", _at_least(_HEX, 48)),
    _token("openai-key", "sk-proj-, sk-svcacct-, sk-admin-", _at_least(_WIDE, 40)),
    _token("model-provider-key", "sk-", _at_least(_WORD, 32)),
    _token("groq-key", "gsk_", _at_least(_WORD, 40)),
    _token("xai-key", "xai-", _at_least(_WORD, 60)),
    _token("perplexity-key", "pplx-", _at_least(_WORD, 40)),
    _token("replicate-token", "r8_", _at_least(_WORD, 37)),
    _token("langsmith-key", "lsv2_pt_, lsv2_sk_", rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    _token("huggingface-token", "hf_, api_org_", _at_least(r"[A-Za-z]", 34)),
    _token("npm-token", "npm_", _exactly(_WORD, 36)),
    _token("pypi-token", "pypi-AgE", _at_least(_WIDE, 50)),
    _token("rubygems-key", "rubygems_", _exactly(_HEX, 48)),
    _token("crates-token", "cio", _exactly(_WORD, 32)),
    _token("docker-token", "dckr_pat_, dckr_oat_", _at_least(_WIDE, 27)),
    _token("sendgrid-key", "SG.", rf"{_WIDE}{{20,24}}\.{_WIDE}{{39,50}}"),
    _token("twilio-key", "SK", _exactly(_HEX, 32)),
    _token("mailgun-key", "key-", _exactly(_HEX, 32)),
    _token("brevo-key", "xkeysib-, xsmtpsib-", rf"{_HEX}{{64}}-{_WORD}{{16}}"),
    _token("json-web-token", "eyJ", rf"{_WIDE}{{8,}}\.eyJ{_WIDE}{{8,}}\.{_WIDE}{{16,}}"),
    _token("databricks-token", "dapi, dose", _exactly(_HEX, 32)),
    _token("digitalocean-token", "dop_v1_, doo_v1_, dor_v1_", _exactly(_HEX, 64)),
    _token("shopify-token", "shpat_, shpss_, shpca_, shppa_, shptka_", _exactly("[0-9a-fA-F]", 32)),
    _token("heroku-key", "HRKU-", _at_least(_WIDE, 36)),
    _token("linear-key", "lin_api_, lin_oauth_", _at_least(_WORD, 32)),
    _token("notion-token", "ntn_, secret_", _at_least(_WORD, 43)),
    _token("atlassian-token", "ATATT3, ATCTT3", _at_least(r"[A-Za-z0-9_=-]", 60)),
    _token("airtable-token", "pat", rf"{_WORD}{{14}}\.{_HEX}{{64}}"),
    _token("figma-token", "figd_, figo_", _at_least(_WIDE, 38)),
    _token("grafana-token", "glsa_", rf"{_WORD}{{32}}_[0-9A-Fa-f]{{8}}"),
    _token("grafana-cloud-token", "glc_", _at_least(r"[A-Za-z0-9+/=]", 40)),
    _token("vault-token", "hvs., hvb., hvr.", _at_least(_WIDE, 24)),
    _token("new-relic-key", "NRAK-, NRJS-, NRII-", _at_least(_WIDE, 19)),
    _token("pulumi-token", "pul-", _exactly(_HEX, 40)),
    _token("postman-key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    _token(
        "planetscale-secret", "pscale_tkn_, pscale_pw_, pscale_oauth_", _at_least(r"[\w.=-]", 32)
    ),
    _token("sentry-token", "sntrys_, sntryu_", _at_least(r"[A-Za-z0-9+/=_]", 40)),
    _token("doppler-token", "dp.pt., dp.st., dp.ct., dp.sa.", rf"[\w.]{{0,40}}{_WORD}{{40}}"),
    _token("netlify-token", "nfp_, nfc_", _at_least(_WORD, 36)),
    _token("supabase-key", "sbp_, sb_secret_", _at_least(r"[A-Za-z0-9_]", 24)),
    _token("square-token", "sq0atp-, sq0csp-, EAAA", _at_least(_WIDE, 22)),
    _token("dynatrace-token", "dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("tailscale-key", "tskey-", rf"[a-z]+-{_WORD}{{8,}}-{_WORD}{{16,}}"),
    _token("alibaba-access-key", "LTAI", _at_least(_WORD, 16)),
    _token("amazon-mws-token", "amzn.mws.", _UUID),
    _token("amazon-client-secret", "amzn1.oa2-cs.v1.", _exactly(_HEX, 64)),
    _token("pinecone-key", "pcsk_", _at_least(r"[A-Za-z0-9_]", 40)),
    _token("nuget-key", "oy2", _exactly("[a-z0-9]", 43)),
    _token("artifactory-key", "AKCp", _at_least(_WORD, 60)),
    _token("artifactory-token", "cmVmdGtu", _at_least(_WORD, 56)),
    _token(
        "discord-token",
        "MT, Mj, Mz, ND, NT, Nj, Nz, OD, OT",
        rf"{_WIDE}{{22,26}}\.{_WIDE}{{6}}\.{_WIDE}{{27,45}}(?!{_WIDE})",
    ),
    _token("bitbucket-token", "ATBB", _at_least(_WORD, 32)),
    _token("trello-token", "ATTA", _exactly("[0-9A-Fa-f]", 72)),
    _token("vercel-token", "vcp_, vci_, vca_, vcr_, vck_", _at_least(_WORD, 24)),
    _token("circleci-token", "CCIPAT_, CCIPRJ_", rf"{_WORD}{{16,}}_{_HEX}{{40}}"),
    _token("buildkite-token", "bkua_", _exactly(_HEX, 40)),
    _token("sonar-token", "sqp_, sqa_, squ_", _exactly(_HEX, 40)),
    _token("snyk-token", "snyk_uat.", _at_least(r"[\w.-]", 40)),
    _token("sourcegraph-token", "sgp_, sgd_", _at_least(r"[0-9a-zA-Z_]", 40)),
    _token("openshift-token", "sha256~", _exactly(_WIDE, 43)),
    _token("octopus-key", "API-", _exactly("[A-Z0-9]", 26)),
    _token("hubspot-token", "pat-na1-, pat-na2-, pat-eu1-", _UUID),
    _token("mapbox-secret", "sk.eyJ", rf"{_WIDE}{{50,}}\.{_WIDE}{{20,}}"),
    _token("posthog-key", "phx_", _at_least(_WORD, 40)),
    _token("neon-key", "napi_", _at_least(_WORD, 40)),
    _token("render-key", "rnd_", _at_least(_WORD, 24)),
    _token("resend-key", "re_", rf"{_WORD}{{8}}_{_WORD}{{20,}}"),
    _token("mailersend-token", "mlsn.", _exactly(_HEX, 64)),
    _token("paddle-key", "pdl_live_, pdl_sdbx_", _at_least(r"[A-Za-z0-9_]", 40)),
    _token("paypal-token", "access_token$production$", rf"[0-9a-z]{{16}}\${_HEX}{{32}}"),
    _token("plaid-token", "access-production-, access-sandbox-", _UUID),
    _token("razorpay-key", "rzp_live_", _at_least(_WORD, 14)),
    _token("flutterwave-key", "FLWSECK-, FLWSECK_TEST-", rf"{_WORD}{{32,}}-X"),
    _token("easypost-key", "EZAK, EZTK", _exactly(_WORD, 54)),
    _token("shippo-token", "shippo_live_, shippo_test_", _exactly(_HEX, 40)),
    _token("duffel-token", "duffel_live_, duffel_test_", _exactly(_WIDE, 43)),
    _token("facebook-token", "EAA", _at_least(_WORD, 90)),
    _token("instagram-token", "IGQV, IGAA", _at_least(_WIDE, 90)),
    _token("x-bearer-token", "AAAAAAAAAAAAAAAAAAAAA", _at_least("[A-Za-z0-9%]", 60)),
    _token("dropbox-token", "sl.u., sl.B", _at_least(_WIDE, 100)),
    _token("adobe-client-secret", "p8e-", _exactly(_WIDE, 32)),
    _token("contentful-token", "CFPAT-", _exactly(_WIDE, 43)),
    _token("clickup-token", "pk_", rf"[0-9]{{6,}}_[A-Z0-9]{{32}}(?!{_WORD})"),
    _token("typeform-token", "tfp_", _at_least(_WIDE, 40)),
    _token("readme-key", "rdme_", _at_least("[a-z0-9]", 60)),
    _token("prefect-key", "pnu_, pnb_", _exactly(_WORD, 36)),
    _token("dbt-token", "dbtc_, dbtu_", _at_least(_WIDE, 32)),
    _token("infracost-key", "ico-", _exactly(_WORD, 32)),
    _token("aiven-password", "AVNS_", _at_least(_WIDE, 16)),
    _token("mongodb-atlas-secret", "mdb_sa_sk_", _at_least(_WIDE, 32)),
    _token("axiom-token", "xaat-, xapt-", _UUID),
    _token("launchdarkly-key", "sdk-, api-", _UUID),
    _token("nvidia-key", "nvapi-", _at_least(_WIDE, 60)),
    _token("cerebras-key", "csk-", _at_least(_WORD, 40)),
    _token("fireworks-key", "fw_", _at_least(_WORD, 22)),
    _token("together-key", "tgp_v1_", _at_least(_WIDE, 40)),
    _token("tavily-key", "tvly-", _at_least(_WIDE, 30)),
    _token("firecrawl-key", "fc-", _exactly(_HEX, 32)),
    _token("jina-key", "jina_", _at_least(_WIDE, 50)),
    _token("e2b-key", "e2b_", _exactly(_HEX, 40)),
    _token("langfuse-key", "sk-lf-", _UUID),
    _token("llamacloud-key", "llx-", _at_least(_WORD, 40)),
    _token("elevenlabs-key", "sk_", _exactly(_HEX, 48)),
    _token("wandb-key", "wandb_v1_", _at_least(r"[A-Za-z0-9_]", 40)),
    _token("apify-token", "apify_api_", _at_least(_WORD, 36)),
    _token("logfire-token", "pylf_v1_", _at_least(r"[A-Za-z0-9_]", 40)),
    _token("onesignal-key", "os_v2_app_, os_v2_org_", _at_least("[a-z0-9]", 80)),
    _token("tencent-secret-id", "AKID", _exactly(_WORD, 32)),
    _token("yandex-key", "AQVN", _at_least(_WIDE, 35)),
    _token("firebase-server-key", "AAAA", rf"{_WIDE}{{7}}:APA91b{_WIDE}{{100,}}"),
    _token("google-refresh-token", "1//0", _at_least(_WIDE, 40)),
    _token(
        "onepassword-secret-key",
        "A3-",
        r"[A-Z0-9]{6}-[A-Z0-9]{6,11}-(?:[A-Z0-9]{5}-){2,3}[A-Z0-9]{5}",
    ),
    _token("zapier-webhook", "https://hooks.zapier.com/hooks/catch/", r"[0-9]+/[a-z0-9]{6,}"),
    _token("twitch-stream-key", "live_", rf"[0-9]{{6,12}}_{_WORD}{{28,}}"),
    _token("adafruit-key", "aio_", _exactly(_WORD, 28)),
    _token("thunderstore-token", "tss_", _at_least(_WORD, 24)),
    _token("socket-token", "sktsec_", _at_least(_WIDE, 30)),
    _token("flyio-token", "FlyV1 fm2_, fo1_", _at_least(r"[A-Za-z0-9+/=_,-]", 40)),
    _token("age-secret-key", "AGE-SECRET-KEY-1", _at_least(r"[A-Z0-9]", 50)),
    _token("onepassword-token", "ops_eyJ", _at_least(_WIDE, 80)),
    _token(
        "private-key",
        "-----BEGIN ",
        r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?>(?:\s|\\n|\\r)*)(?>(?:[A-Za-z-]{3,20}: [^\n]{0,120}\n\s{0,8}){0,6})"
        r"(?:(?>(?:[A-Za-z0-9+/=\s]|\\n|\\r){64,})(?:-----END [A-Z0-9 ]{1,40}-----)?"
        r"|(?=[A-Za-z+/]{0,62}[0-9])[A-Za-z0-9+/]{12}"
        r"(?>(?:[A-Za-z0-9+/=\s]|\\n|\\r){0,63})-----END [A-Z0-9 ]{1,40}-----)",
    ),
    _token(
        "putty-private-key",
        "PuTTY-User-Key-File-",
        r"[23]: (?>(?:(?!Private-Lines)[^\n]{0,200}\n\s{0,8}){1,200})"
        r"Private-Lines: [0-9]{1,3}\s+[A-Za-z0-9+/=\s]{40,}+",
    ),
)

SHAPES: Final = (
    _shape(
        "session-cookie",
        "sess|connect.sid|aspnetcore|remember_|__secure-|__host-",
        r"(?i)(?<![\w.-])(?:sessionid|connect\.sid|jsessionid|phpsessid|asp\.net_sessionid|[a-z]{1,12}sessid"
        r"|\.aspnetcore\.[a-z.]{1,40}|_?[a-z]{2,20}_session|remember_(?:me|token|web_\w{1,60})"
        r"|__(?:secure|host)-[\w.-]{1,40}|(?:next-)?auth(?:js)?[._-]session-token)"
        r"=(?=[^\s;]{0,64}[0-9])([^\s;,\"'&<>${}()\[\]]{16,})",
    ),
    _shape(
        "session-cookie",
        "cookie",
        r"(?i)cookie[\"']?(?:: | |=)[\"']?[^\n]{0,200}?(?<![\w.-])"
        r"[\w.-]{0,24}(?:sess|sid|auth|token|jwt|login)"
        r"[\w.-]{0,24}=(?=[^\s;]{0,64}[0-9])([^\s;,\"'&<>${}()\[\]]{16,})",
    ),
    _shape(
        "telegram-token",
        ":aa",
        rf"(?:(?<![A-Za-z0-9])|(?<=/bot))([0-9]{{8,10}}:AA{_WIDE}{{33}})(?!{_WIDE})",
    ),
    _shape(
        "azure-client-secret",
        "q~",
        r"(?<![\w.~-])([A-Za-z0-9_.-]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,34})(?![\w~-])",
    ),
    _shape(
        "azure-storage-key",
        "accountkey|sharedaccesskey",
        r"(?<=[Kk]ey=)([A-Za-z0-9+/]{43,88}={1,2})(?![A-Za-z0-9+/=])",
    ),
    _shape("azure-signed-url", "sig=", r"(?<=[?&;]sig=)([A-Za-z0-9%+/_-]{40,}={0,2})"),
    _shape("json-web-key", '"kty"', r"\"[kd]\"\s{0,3}:\s{0,3}\"([A-Za-z0-9_-]{20,})\""),
    _shape(
        "recovery-key", "recovery|bitlocker", r"(?<![0-9-])([0-9]{6}(?:-[0-9]{6}){7})(?![0-9-])"
    ),
    _shape("terraform-token", ".atlasv1.", rf"(?<![\w.-])({_WORD}{{14}}\.atlasv1\.{_WIDE}{{60,}})"),
    _shape("mailchimp-key", "-us", rf"(?<!{_WORD})({_HEX}{{32}}-us[0-9]{{1,2}})(?!{_WORD})"),
    _shape(
        "teams-webhook",
        "webhook.office.com/",
        r"(?<=webhook\.office\.com/webhookb2/)([A-Za-z0-9@/-]{80,})",
    ),
    _shape(
        "heroku-legacy-key",
        "heroku",
        rf"(?i)(?<![a-z0-9])heroku[^\n]{{0,40}}?(?:key|token)[^\n]{{0,20}}?"
        rf"({_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}})(?!{_WORD})",
    ),
    _shape(
        "authorization-header",
        "bearer |authorization",
        r"(?i)(?<![a-z0-9])(?:bearer {1,3}"
        r"|authorization[\"']?[:=] {0,3}[\"']?(?:[a-z-]{2,20} {1,3})?"
        r"(?=[a-z._~+/-]{0,40}[0-9]))([a-z0-9._~+/-]{20,}={0,2})",
    ),
)

COMMANDS: Final = (
    _shape(
        BASIC,
        "basic |auth",
        r"(?i)(?:(?<![a-z])basic {1,3}|(?<![a-z])_?auth(?:orization)?[\"']?"
        r"\s{0,3}[:=]\s{0,3}[\"']?(?:basic )?)"
        r"[\"']?([a-z0-9+/]{8,}={0,2})",
    ),
    _shape(
        "pgpass-password",
        ":5432:|:*:|:6432:|:5433:",
        r"(?<![\w.*:/-])[\w.*-]{1,100}:(?:[0-9]{4,5}|\*):[\w*.-]{1,64}:[\w.@+*-]{1,64}:([^\s:`\"']{6,128})",
    ),
    _shape(
        "command-password",
        "curl|wget|http ",
        r"(?<!\S)(?:-u|-U|--user|--proxy-user|--auth|-a)[= ]{1,3}"
        r"[\"']?[^\s:\"'<>$]{1,64}:([^\s\"'<>$]{4,})",
    ),
    _shape(
        "connection-password",
        "@tcp(|@unix(",
        r"(?<![\w.-])[\w.-]{1,64}:([^\s\"'`<>{}]{4,128})@(?:tcp|unix)\(",
    ),
    _shape("command-password", "sshpass", r"sshpass {1,3}-p {0,3}[\"']?([^\s\"'<>$]{4,})"),
    _shape(
        "command-password",
        "<(echo |<(printf ",
        r"(?i)(?:pass|pw|secret|token|credential)[\w-]{0,24}[ =]<\((?:echo|printf) {1,3}(?:-n )?"
        r"[\"']?([^\s\"'<>$()]{6,})",
    ),
    _shape(
        "command-password",
        "<<<",
        r"(?<!\S)(?:sudo -S|--(?:password-stdin|stdin|with-token|passphrase-fd))(?!\S)"
        r"[^\n<]{0,120}<<< {0,3}[\"']?(?=[^\s\"'<>$]{0,64}[0-9])([^\s\"'<>$]{6,})",
    ),
    _shape(
        "command-password",
        "net use ",
        r"(?i)(?<!\S)net use (?=[^\n]{0,300}/user)(?:[a-z*]: ?|\* )?\\\\[^\s/]{1,200} {1,3}"
        r"(?:/user:\S{1,64} {1,3})?[\"']?(?=[^\s\"'*/<>$%]{0,64}[0-9])"
        r"([^\s\"'*/<>$%][^\s\"'<>]{3,})",
    ),
    _shape(
        "command-password",
        "net user ",
        r"(?i)(?<!\S)net user [\w.\\-]{1,64} (?=[^\s]{0,64}[0-9])([^\s/*\"'<>$%][^\s\"'<>]{5,64})",
    ),
    _shape(
        "one-time-password-seed",
        "totp|hotp|otp |2fa|mfa|authenticator",
        r"(?i:(?<![a-z0-9])(?:t?otp|hotp|2fa|mfa|authenticator)(?![a-z]))[^\n]{0,40}?"
        r"(?<![\w./-])(?=[A-Z]{0,31}[2-7])(?=[2-7]{0,8}[A-Z])([A-Z2-7]{16,64})(?![\w./-])",
    ),
    _shape(
        "connection-password",
        "jdbc:oracle:",
        r"(?i)jdbc:oracle:[a-z0-9]{1,8}:[^\s/@:]{1,64}/([^\s@\"'<>${]{4,128})@",
    ),
    _shape(
        "netrc-password",
        "login ",
        r"(?<!\S)login\s{1,3}\S{1,64}\s{1,3}password\s{1,3}([^\s\"'<>${]{4,})",
    ),
)
