"""The OpenAPI description as a judge: whether an answer of the control plane is one that it describes."""
import copy
import json

from jsonschema import Draft202012Validator

# Headers that mean something to a client of the API.
HEADERS = ("ETag", "Allow", "Retry-After", "WWW-Authenticate")


class NotDescribed(AssertionError):
    """What differs."""


def read_json(text):
    """Its value. A member that is there twice is an error."""
    def members(pairs):
        names = [name for name, _ in pairs]
        if len(names) != len(set(names)):
            raise NotDescribed(f"a member is there twice: {names}")
        return dict(pairs)
    return json.loads(text, object_pairs_hook=members)


class Description:
    def __init__(self, document):
        self.document = document

    def operations(self):
        return [(method.upper(), path) for path, item in self.document["paths"].items() for method in item]

    def operation(self, method, path):
        return self.document["paths"][path][method.lower()]

    def referred(self, part):
        while "$ref" in part:
            found = self.document
            for name in part["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            part = found
        return part

    def errors(self, value, schema):
        """What is wrong with this value."""
        whole = {**schema, "components": self.document["components"]}
        return [f"{error.json_path}: {error.message[:300]}" for error in Draft202012Validator(whole).iter_errors(value)]

    def body_errors(self, method, path, body):
        """What is wrong with the body of a request."""
        described = self.operation(method, path).get("requestBody")
        if described is None:
            return ["no body is described"]
        return self.errors(read_json(body), described["content"]["application/json"]["schema"])

    def schema(self, method, path, answer):
        """That of the answer's document, as text."""
        response = self.referred(self.operation(method, path)["responses"][str(answer.status)])
        return json.dumps(response["content"][answer.headers["Content-Type"]]["schema"])

    def check(self, method, path, answer):
        """Raises NotDescribed."""
        where = f"{method} {path}: {answer.status}"
        responses = self.operation(method, path)["responses"]
        if str(answer.status) not in responses:
            raise NotDescribed(f"{where} is not described: {answer.body[:300]}")
        response = self.referred(responses[str(answer.status)])
        kind = answer.headers.get("Content-Type")
        if kind not in response["content"]:
            raise NotDescribed(f"{where} has the type {kind}")
        described = {name: self.referred(header) for name, header in response.get("headers", {}).items()}
        for name in HEADERS:
            value = answer.headers.get(name)
            if value is not None and name not in described:
                raise NotDescribed(f"{where} has the header {name}: {value}")
            if value is None and described.get(name, {}).get("required"):
                raise NotDescribed(f"{where} lacks the header {name}")
            if value is not None and self.errors(value, described[name]["schema"]):
                raise NotDescribed(f"{where} has the header {name}: {value}")
        for name, value in (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")):
            if answer.headers.get(name) != value:
                raise NotDescribed(f"{where} has no {name}: {value}")
        document = read_json(answer.body) if kind.endswith("json") else answer.body
        wrong = self.errors(document, response["content"][kind]["schema"])
        if wrong:
            raise NotDescribed(f"{where}: {wrong}")


def objects_in(value, path=()):
    """Each object in a document with its place; of lists those in the first two elements."""
    if isinstance(value, dict):
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, each in items:
        yield from objects_in(each, (*path, name))


def changed(document, path, change):
    """A copy in which `change` was done to the object at this place. It shares what is elsewhere."""
    if not path:
        document = copy.deepcopy(document)
        change(document)
        return document
    document = copy.copy(document)
    document[path[0]] = changed(document[path[0]], path[1:], change)
    return document
