"""A google-genai client whose server is a function of the test, and what its requests held."""

import json

import httpx2
from google import genai
from google.genai import types


def client(*answers):
    """A client that gets these answers, one a request, and the list of bodies it has sent.

    An answer is a JSON body, a list of bodies (a stream), or an exception of the transport.
    """
    bodies, left = [], list(answers)

    def handle(request):
        bodies.append(json.loads(request.content))
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, list):
            text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in answer)
            return httpx2.Response(200, text=text, headers={"content-type": "text/event-stream"})
        body = {key: value for key, value in answer.items() if key != "http"}
        return httpx2.Response(answer.get("http", 200), json=body)

    transport = httpx2.MockTransport(handle)
    options = types.HttpOptions(
        httpx_client=httpx2.Client(transport=transport),
        httpx_async_client=httpx2.AsyncClient(transport=transport),
    )
    return genai.Client(vertexai=False, api_key="SECRET-KEY", http_options=options), bodies


def said(*parts, finish="STOP", **usage):
    """A response body: its parts (a string is a text), finish reason and usage."""
    parts = [{"text": part} if isinstance(part, str) else part for part in parts]
    candidate = {"content": {"role": "model", "parts": parts}}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]} | ({"usageMetadata": usage} if usage else {})


def asked(name, call_id="1", **arguments):
    """A part that asks for a function call."""
    return {"functionCall": {"id": call_id, "name": name, "args": arguments}}


def error(code, status, message="No.", **more):
    """An error body in Google's shape."""
    return {"http": code, "error": {"code": code, "status": status, "message": message} | more}


def retry_in(delay):
    """The details of a 429 that asks to wait."""
    return [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
