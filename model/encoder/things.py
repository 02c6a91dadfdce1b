"""Named things of a text that have others of their kind: another order, day, place, person, file, environment."""

import re

KINDS = [
    line.split(", ")
    for line in """
Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
January, February, March, April, June, July, August, September, October, November, December
Q1, Q2, Q3, Q4
staging, production, sandbox, preview, QA, UAT
dev, prod, test, stage
eu-west-1, us-east-1, ap-southeast-2, eu-central-1, us-west-2, sa-east-1
master, main, develop, release
English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Turkish, Japanese, Korean, Swedish, Arabic, Hindi
Germany, France, Spain, Italy, Portugal, Austria, Poland, Turkey, Japan, Brazil, Canada, Mexico, India, Ireland, Norway, Kenya
Berlin, Paris, London, Lisbon, Porto, Madrid, Vienna, Rome, Milan, Oslo, Dublin, Munich, Hamburg, Zurich, Amsterdam, Tokyo, Toronto, Boston, Chicago, Austin, Denver, Seattle, Lyon, Prague, Warsaw, Nairobi, Mumbai, Sydney, Melbourne, Barcelona
Postgres, MySQL, SQLite, Redis, MongoDB, Cassandra, ClickHouse, DynamoDB, Elasticsearch, BigQuery, Snowflake
Kafka, RabbitMQ, SQS, NATS, Pulsar
Chrome, Firefox, Safari, Edge
iOS, Android, Windows, macOS, Linux
Python, Java, Go, Rust, Ruby, PHP, Kotlin, Swift, TypeScript, Scala
React, Vue, Svelte, Angular, Django, Rails, Laravel, Flask, FastAPI, Spring
npm, pnpm, yarn, pip, cargo, maven, gradle, poetry
AWS, Azure, GCP, Hetzner, Cloudflare
Stripe, PayPal, Adyen, Klarna, Braintree
Slack, Teams, Discord, WhatsApp, Telegram, Zoom
Jira, Linear, Asana, Trello, Notion, Confluence
GitHub, GitLab, Bitbucket
Salesforce, HubSpot, Zendesk, Intercom, Pipedrive, Freshdesk
Excel, Word, PowerPoint, Outlook
Anna, Ben, Carla, David, Elena, Felix, Grace, Hannah, Ivan, Julia, Kevin, Laura, Maria, Nina, Omar, Paul, Priya, Rachel, Sam, Sofia, Tom, Tanya, Victor, Yuki, Zoe, Marta, Diego, Fatima, Lukas, Mei, Sara, Peter, Maya, Jonas, Leila, Ahmed, Chris, Emma, Nora, Raj, Tomas, Ingrid
mom, dad, grandma, grandpa, sister, brother, aunt, uncle
euros, dollars, pounds, francs
EUR, USD, GBP, CHF, JPY
CSV, JSON, XML, PDF, YAML, XLSX, Parquet
marketing, finance, legal, sales, payroll, procurement, support
red, blue, green, yellow, black, white, grey, purple
kitchen, bathroom, bedroom, garage, hallway, balcony
breakfast, lunch, dinner
invoice, quote, receipt, contract
left, right
morning, afternoon, evening
dog, cat, rabbit, horse
oak, pine, birch, walnut
chicken, salmon, beef, tofu, lamb
milk, butter, flour, sugar
arm64, amd64, x86
login, signup, checkout, search, profile
header, footer, sidebar
""".strip().split("\n")
]
KIND_OF = {name: kind for kind in KINDS for name in kind}
WORD = re.compile(r"[A-Za-z][\w-]*")
# Ids, versions, amounts, hosts with a number; and files.
NUMBER = re.compile(r"(?<![\w.])(?:[A-Za-z#]{1,12}-?)?\d+(?:[.:-]\d+)*(?![\w%])")
FILE = re.compile(r"(?<![\w/])(?:[\w-]+/)*[\w-]+\.(?:py|tsx?|jsx?|go|rs|java|kt|rb|php|cs?|cpp|css|html|sql|ya?ml|toml|json|csv|xlsx|pdf|md|docx?|pptx|txt|sh)\b")


def named(text):
    """The named things of a text, as it spells them."""
    files = FILE.findall(text)
    rest = FILE.sub(" ", text)
    # Two digits alone are mostly an amount, which no errand is about.
    numbers = [each for each in NUMBER.findall(rest) if sum(c.isdigit() for c in each) > 2 or not each[0].isdigit()]
    return {*files, *numbers, *(word for word in WORD.findall(rest) if word in KIND_OF)}


def other_of(thing, files, rng):
    """Another thing of the same kind; None if none is known. `files`: names of files to choose from."""
    if thing in KIND_OF:
        return rng.choice([each for each in KIND_OF[thing] if each != thing])
    if FILE.fullmatch(thing):
        end = thing[thing.rindex(".") :]
        like = [each for each in files if each.endswith(end) and each != thing]
        return rng.choice(like) if like else None
    changed = thing
    while changed == thing:
        changed = "".join(rng.choice("123456789") if c.isdigit() and rng.random() < 0.6 else c for c in thing)
    return changed


def mentions(text, thing):
    return re.search(rf"(?<![\w/.-]){re.escape(thing)}(?![\w-]|\.\w)", text) is not None


def replaced(text, thing, other):
    return re.sub(rf"(?<![\w/.-]){re.escape(thing)}(?![\w-]|\.\w)", lambda _: other, text)
