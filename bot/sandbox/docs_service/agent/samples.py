"""Code in the languages that the agent can write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """A language, how its SDK is installed, and some code by what it shows; names still to be filled in."""

    name: str
    fence: str
    pattern: str
    needs: str
    install: str
    samples: Mapping[str, str]

    def sample(self, kind: str) -> str:
        """Code for `first`, `list`, `pages`, `errors` or `webhook`; a first call where there is no other."""
        return self.samples.get(kind, self.samples["first"])


_PYTHON = Language(
    "Python",
    "python",
    r"\bpython\b",
    "Python 3.9 or newer",
    "pip install << package >>",
    {
        "pages": """from << package >> import Client

with Client() as client:
    cursor = None
    while True:
        page = client.shipments.page(limit=100, after=cursor)
        for shipment in page.rows:
            print(shipment.id)
        if page.next is None:
            break
        cursor = page.next""",
        "first": """from << package >> import Client

with Client() as client:
    shipment = client.shipments.create(
        sender="warehouse-1",
        recipient="Ada Lovelace, 12 Example Street, London",
        weight_grams=1200,
    )
    print(shipment.id, shipment.status)""",
        "list": """from << package >> import Client

with Client() as client:
    # The SDK asks for the next page when it is needed.
    for shipment in client.shipments.list(status="in_transit", limit=100):
        print(shipment.id, shipment.carrier)""",
        "errors": """import time

from << package >> import Client, RateLimited, ServiceUnavailable


def create_with_patience(client: Client, order: dict[str, object]) -> str:
    for attempt in range(5):
        try:
            return client.shipments.create(**order, idempotency_key=str(order["reference"])).id
        except RateLimited as error:
            time.sleep(error.retry_after_seconds)
        except ServiceUnavailable:
            time.sleep(2**attempt)
    raise TimeoutError("no answer after five attempts")""",
        "webhook": """from flask import Flask, abort, request

from << package >> import is_genuine

app = Flask(__name__)


@app.post("/hooks/<< package >>")
def receive() -> tuple[str, int]:
    if not is_genuine(request.get_data(), request.headers):
        abort(401)
    queue.put(request.get_json())  # answer first, work later
    return "", 200""",
    },
)
_JAVASCRIPT = Language(
    "JavaScript",
    "javascript",
    r"\b(?:javascript|typescript|node(?:\.?js)?|deno|bun)\b",
    "Node.js 18 or newer",
    "npm install << package >>",
    {
        "pages": """import { Client } from "<< package >>";

const client = new Client();
let after;
do {
  const page = await client.shipments.page({ limit: 100, after });
  page.rows.forEach((shipment) => console.log(shipment.id));
  after = page.next;
} while (after);""",
        "first": """import { Client } from "<< package >>";

const client = new Client();
const shipment = await client.shipments.create({
  sender: "warehouse-1",
  recipient: "Ada Lovelace, 12 Example Street, London",
  weightGrams: 1200,
});
console.log(shipment.id, shipment.status);""",
        "list": """import { Client } from "<< package >>";

const client = new Client();
// The SDK asks for the next page when it is needed.
for await (const shipment of client.shipments.list({ status: "in_transit", limit: 100 })) {
  console.log(shipment.id, shipment.carrier);
}""",
        "errors": """import { RateLimited } from "<< package >>";
import { setTimeout } from "node:timers/promises";

export async function withPatience(call) {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error;
      await setTimeout(error.retryAfterSeconds * 1000);
    }
  }
  throw new Error("no answer after five attempts");
}""",
        "webhook": """import express from "express";
import { isGenuine } from "<< package >>";

const app = express();
app.post("/hooks/<< package >>", express.raw({ type: "*/*" }), (request, response) => {
  if (!isGenuine(request.body, request.headers)) return response.sendStatus(401);
  queue.push(JSON.parse(request.body)); // answer first, work later
  return response.sendStatus(200);
});""",
    },
)
_GO = Language(
    "Go",
    "go",
    r"\b(?:golang|Go(?! (?:to|into|over|through|back|on|ahead|with)\b)|go(?= (?:sdk|client)))\b",
    "Go 1.21 or newer",
    "go get << package >>",
    {
        "first": """client := << package >>.NewClient()
shipment, err := client.Shipments.Create(ctx, << package >>.NewShipment{
    Sender:      "warehouse-1",
    Recipient:   "Ada Lovelace, 12 Example Street, London",
    WeightGrams: 1200,
})
if err != nil {
    return err
}
fmt.Println(shipment.ID, shipment.Status)""",
        "list": """for shipment, err := range client.Shipments.List(ctx, << package >>.InTransit) {
    if err != nil {
        return err
    }
    fmt.Println(shipment.ID, shipment.Carrier)
}""",
        "errors": """var limited *<< package >>.RateLimitedError
shipment, err := client.Shipments.Create(ctx, order)
if errors.As(err, &limited) {
    time.Sleep(limited.RetryAfter)
    shipment, err = client.Shipments.Create(ctx, order)
}""",
        "webhook": """func receive(w http.ResponseWriter, r *http.Request) {
    body, err := io.ReadAll(r.Body)
    if err != nil || !<< package >>.IsGenuine(body, r.Header) {
        w.WriteHeader(http.StatusUnauthorized)
        return
    }
    events <- body // answer first, work later
    w.WriteHeader(http.StatusOK)
}""",
    },
)
_RUBY = Language(
    "Ruby",
    "ruby",
    r"\b(?:ruby|rails)\b",
    "Ruby 3.1 or newer",
    "gem install << package >>",
    {
        "first": """require "<< package >>"

client = << module >>::Client.new
shipment = client.shipments.create(
  sender: "warehouse-1",
  recipient: "Ada Lovelace, 12 Example Street, London",
  weight_grams: 1200
)
puts shipment.id""",
        "list": """client.shipments.list(status: "in_transit", limit: 100).each do |shipment|
  puts "#{shipment.id} #{shipment.carrier}"
end""",
    },
)
_JAVA = Language(
    "Java",
    "java",
    r"\b(?:java|kotlin|spring)\b",
    "Java 17 or newer",
    "mvn dependency:get -Dartifact=com.example:<< package >>:2.4",
    {
        "first": """var client = Client.fromEnvironment();
var shipment = client.shipments().create(NewShipment.builder()
    .sender("warehouse-1")
    .recipient("Ada Lovelace, 12 Example Street, London")
    .weightGrams(1200)
    .build());
System.out.println(shipment.id());""",
        "list": """client.shipments().list(Status.IN_TRANSIT)
    .forEach(shipment -> System.out.println(shipment.id() + " " + shipment.carrier()));""",
    },
)
_PHP = Language(
    "PHP",
    "php",
    r"\b(?:php|laravel|symfony)\b",
    "PHP 8.1 or newer",
    "composer require << package >>/sdk",
    {
        "first": """$client = new Client();
$shipment = $client->shipments->create([
    'sender' => 'warehouse-1',
    'recipient' => 'Ada Lovelace, 12 Example Street, London',
    'weight_grams' => 1200,
]);
echo $shipment->id;""",
    },
)
_CSHARP = Language(
    "C#",
    "csharp",
    r"(?:\bC#|\.NET\b|\bcsharp\b|\bdotnet\b)",
    ".NET 8 or newer",
    "dotnet add package << package >>",
    {
        "first": """var client = new Client();
var shipment = await client.Shipments.CreateAsync(new NewShipment
{
    Sender = "warehouse-1",
    Recipient = "Ada Lovelace, 12 Example Street, London",
    WeightGrams = 1200,
});
Console.WriteLine(shipment.Id);""",
    },
)
_RUST = Language(
    "Rust",
    "rust",
    r"\brust\b",
    "Rust 1.75 or newer",
    "cargo add << package >>",
    {
        "first": """let client = Client::from_env()?;
let shipment = client
    .shipments()
    .create(NewShipment::new("warehouse-1", "Ada Lovelace, 12 Example Street, London").weight_grams(1200))
    .await?;
println!("{}", shipment.id);""",
    },
)
SHELL = Language(
    "curl",
    "bash",
    r"\b(?:curl|shell|bash|command line|cli|terminal|http api|rest api)\b",
    "`curl`, which most systems have",
    "curl --version",
    {
        "first": """curl -X POST "$<< constant >>_URL/v2/shipments" \\
  -H "Authorization: Bearer $<< constant >>_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"sender": "warehouse-1", "recipient": "Ada Lovelace, London", "weight_grams": 1200}'""",
        "list": """curl "$<< constant >>_URL/v2/shipments?status=in_transit&limit=100" \\
  -H "Authorization: Bearer $<< constant >>_API_KEY\"""",
        "errors": """curl --retry 5 --retry-all-errors "$<< constant >>_URL/v2/shipments/shp_72" \\
  -H "Authorization: Bearer $<< constant >>_API_KEY\"""",
    },
)

LANGUAGES = (_PYTHON, _JAVASCRIPT, _GO, _RUBY, _PHP, _CSHARP, _RUST, _JAVA, SHELL)


def find_language(text: str) -> Language | None:
    """The first language that a text names."""
    found = []
    for language in LANGUAGES:
        flags = re.NOFLAG if language is _GO else re.IGNORECASE
        match = re.search(language.pattern, text, flags)
        if match:
            found.append((match.start(), language))
    return min(found, key=lambda entry: entry[0])[1] if found else None


def fenced_language(text: str) -> Language | None:
    """The language of the first code on a page, other than shell commands."""
    fences = re.findall(r"^```(\w+)", text, re.MULTILINE)
    return next(
        (one for fence in fences for one in LANGUAGES if one.fence == fence and one is not SHELL), None
    )
