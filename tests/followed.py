"""What a reader writes who does what an exercise and its three hints say, and nothing beyond.

Each is the body of the answer's function, as text; what a third hint holds as code stands in it
letter by letter. test_exercises.py runs them.
They are *not* the solutions: those may know more than the hints tell.
"""

FOLLOWED = {
    "msg-ex1": "return total + added - old",
    "msg-ex2": (
        "part = types.Part(text=f'It took {seconds} seconds.')\n"
        '    return [messages[0], types.Content(role="model", parts=[part])]'
    ),
    "clr-ex1": (
        "first = (given - 1) // n\n    second = (needed - 1) // n\n    return first == second"
    ),
    "clr-ex2": "log.append(messages)\n    another = []\n    return another",
    "clr-ex3": (
        "total = 0\n"
        "    for i in range(turns):\n"
        "        total += base + step * (i % n)\n"
        "    return total"
    ),
    "cost-ex1": (
        "rectangle = turns * base\n"
        "    triangle = sum(step * n for n in range(turns))\n"
        "    return rectangle + triangle"
    ),
    "cost-ex2": "return length * (turns - turn)",
    "cost-ex3": (
        "reading = (prompt - cached) * rate.input + cached * rate.cached\n"
        "    return (reading + (candidates + thoughts) * rate.output) / 1e6"
    ),
    "trim-ex1": (
        "if n < 0: raise ValueError('negative')\n"
        "    first = max(0, len(entries) - n)\n"
        "    return entries[first:]"
    ),
    "trim-ex2": "left = limit - base - new\n    return left // step + 1",
    "trim-ex3": (
        "for max_turns in range(1, TURNS + 1):\n"
        "        for p in probes(play_case(max_turns).calls, case):\n"
        "            if p.number == number and p.in_request:\n"
        "                return max_turns"
    ),
    "tool-ex1": (
        "found = []\n"
        "    for n in range(1, len(kinds) + 1):\n"
        "        if kinds[-n] in ('call', 'response'):\n"
        "            found.append(n)\n"
        "    return found"
    ),
    "tool-ex2": "return len([c for c in transcript if is_turn_start(c)])",
    "tool-ex3": (
        "starts = [i for i, c in enumerate(transcript) if is_turn_start(c)]\n"
        "    if len(starts) < max_turns: return transcript\n"
        "    return transcript[starts[-max_turns:][0]:]"
    ),
    "sum-ex1": (
        "first_kept = arrived - keep + 1\n    return list(range(covered + 1, first_kept))"
    ),
    "sum-ex2": (
        "for index in range(len(bad)):\n"
        "        lines = good[index].splitlines()\n"
        "        for line in bad[index].splitlines():\n"
        "            if line not in lines: return index\n"
        "    return -1"
    ),
    "hyb-ex1": (
        "after = pins + summary + (recent + 1) * step\n"
        "    quiet = (trigger - after) // step\n"
        "    return max(0, quiet)"
    ),
    "hyb-ex2": "return [case.facts[name][-1] for name in case.turns[number - 1].needs]",
    "cache-ex1": (
        "one = (long - cached) * rate.input + cached * rate.cached\n"
        "    return (1e6 * one - 1e6 * short * rate.input) / 1e6"
    ),
    "cache-ex2": (
        "turn = 1\n"
        "    while first < 4096:\n"
        "        first += step\n"
        "        turn += 1\n"
        "    return turn + 1"
    ),
    "cache-ex3": (
        "at, found = max_turns + 1, []\n"
        "    while at <= turns:\n"
        "        found.append(at)\n"
        "        at += max_turns - drop_to + 1\n"
        "    return found"
    ),
    "agent-ex1": (
        "*closed, (start, _) = turns(transcript)\n"
        "    kept = []\n"
        "    for a, b in closed:\n"
        "        kept += [transcript[a], transcript[b - 1]]\n"
        "    return kept + transcript[start:]"
    ),
    "agent-ex2": (
        "room = most - sum(mark in line for line in lines)\n"
        "    kept = []\n"
        "    for line in lines:\n"
        "        if mark in line: kept.append(line)\n"
        "        elif room > 0:\n"
        "            kept.append(line)\n"
        "            room -= 1\n"
        "    return kept"
    ),
    "cmp-ex1": (
        "starts = [start for start, _ in turns(transcript)]\n"
        "    if len(starts) < 6: return transcript\n"
        "    old = [transcript[i] for i in starts[:-6]]\n"
        "    return old + transcript[starts[-6]:]"
    ),
    "cmp-ex2": (
        "found = []\n"
        "    for name, dollars, kept in strategies:\n"
        "        others = [s[1:] for s in strategies if s[1:] != (dollars, kept)]\n"
        "        if not any(d <= dollars and k >= kept for d, k in others):\n"
        "            found.append(name)\n"
        "    return found"
    ),
    "cmp-ex3": (
        'if conversation == "hotline":\n        return LastTurns(2)\n    return my_strategy'
    ),
    "dial-ex1": (
        "found = []\n"
        "    for i, m in enumerate(messages):\n"
        "        if m['role'] != 'user': continue\n"
        "        if isinstance(m['content'], str): found.append(i)\n"
        '        elif any(block["type"] != "tool_result" for block in m[\'content\']):\n'
        "            found.append(i)\n"
        "    return found"
    ),
    "dial-ex2": (
        'texts = {each["tool_call_id"]: each["content"] for each in results}\n'
        "    parts = []\n"
        "    for call in calls:\n"
        "        answer = types.FunctionResponse(id=call['id'], name=call['function']['name'],"
        " response={'result': texts[call['id']]})\n"
        "        parts.append(types.Part(function_response=answer))\n"
        "    return types.Content(role='user', parts=parts)"
    ),
    "dial-ex3": (
        "start, _ = turns(contents)[-1]\n"
        "    copies = [content.model_copy(deep=True) for content in contents]\n"
        "    for content in copies[start:]:\n"
        "        if kind(content) == 'call':\n"
        "            content.parts[0].thought_signature = PLACEHOLDER\n"
        "    return copies"
    ),
    "live-ex1": (
        "resent = prompt + candidates\n"
        "    if not dropped: resent += thoughts\n"
        "    return resent + question + 2"
    ),
    "live-ex2": (
        "requests = students * calls\n    return requests * dollars, -(-requests // per_minute)"
    ),
}
