"""What readers write who have not understood an exercise yet, or stopped half-way.

Each is the body of the answer's function, by exercise and by what is wrong with it. They stand
here as text, since they need the names of a chapter; test_exercises.py runs them.
They are *not* every mistake there is: those that were made, and those that a check once let pass.
"""

MISTAKES = {
    "msg-ex1": {
        "forgets the signatures": "return total + added",
        "takes the question alone": "return added",
        "adds the thoughts once more": "return total + added + old",
        "adds the roles once more": "return total + added + 2 - old",
    },
    "msg-ex2": {
        "changes nothing": "return messages",
        "says it as the user": "return [messages[0], user(f'I said {seconds} seconds')]",
        "changes the question": "return [user(f'You said {seconds} seconds.'), messages[1]]",
        "says always the same": (
            "part = types.Part(text='It takes 71 seconds.')\n"
            "    return [messages[0], types.Content(role='model', parts=[part])]"
        ),
        "keeps the old answer, too": (
            "part = types.Part(text=f'It takes {seconds} seconds.')\n"
            "    return [*messages, types.Content(role='model', parts=[part])]"
        ),
        "changes what it got": (
            "part = types.Part(text=f'It takes {seconds} seconds.')\n"
            "    messages[1] = types.Content(role='model', parts=[part])\n"
            "    return messages"
        ),
    },
    "clr-ex1": {
        "measures the distance": "return needed - given < n",
        "counts rows from turn 0": "return given // n == needed // n",
        "looks at the first row alone": "return needed <= n",
    },
    "clr-ex2": {
        "empties the log's list": (
            "log.append(messages)\n    messages.clear()\n    return messages"
        ),
        "empties the list it got": (
            "log.append(list(messages))\n    messages.clear()\n    return messages"
        ),
        "goes on with the same list": "log.append(messages)\n    return messages",
        "adds messages and no chat": "log.extend(messages)\n    return []",
        "rebinds the log": "log = log + [messages]\n    return []",
        "forgets the log": "return []",
        "loses older chats": "log[:] = [messages]\n    return []",
    },
    "clr-ex3": {
        "never clears": "return turns * base + step * turns * (turns - 1) // 2",
        "forgets the last stretch": "return turns // n * (n * base + step * n * (n - 1) // 2)",
        "takes the last stretch in part": (
            "return round(turns / n * (n * base + step * n * (n - 1) / 2))"
        ),
        "counts from turn 1": "return sum(base + step * (t % n) for t in range(1, turns + 1))",
    },
    "cost-ex1": {
        "lets nothing grow": "return turns * (base + step)",
        "one step too many": "return turns * base + step * turns * (turns + 1) // 2",
        "pays the base once": "return base + step * turns * (turns - 1) // 2",
        "gives the last prompt": "return base + step * (turns - 1)",
    },
    "cost-ex2": {
        "counts its own turn": "return length * (turns - turn + 1)",
        "pays it once": "return length",
        "pays it at every turn": "return length * turns",
    },
    "cost-ex3": {
        "pays the cached part twice": (
            "r = rate\n    return (prompt * r.input + cached * r.cached"
            " + (candidates + thoughts) * r.output) / 1e6"
        ),
        "forgets the thoughts": (
            "r = rate\n    return ((prompt - cached) * r.input + cached * r.cached"
            " + candidates * r.output) / 1e6"
        ),
        "writes the prices down": (
            "return ((prompt - cached) * 0.75 + cached * 0.075"
            " + (candidates + thoughts) * 3.75) / 1e6"
        ),
    },
    "trim-ex1": {
        "slices from minus n": "return entries[-n:]",
        "does not refuse": "return entries[len(entries) - n:] if n else []",
        "refuses 0, too": "if n <= 0: raise ValueError\n    return entries[-n:]",
    },
    "trim-ex2": {
        "forgets the open turn": "return (limit - base - new) // step",
        "forgets the question": "return (limit - base) // step + 1",
        "rounds": "return round((limit - base - new) / step) + 1",
        "rounds up": "return -((base + new - limit) // step)",
    },
    "trim-ex3": {
        "knows the example": "return 19",
        "takes the turn": "return number - 1",
        "wants all facts": (
            "return next(n for n in range(1, 25)"
            " if all(p.in_request for p in probes(play_case(n).calls, case)))"
        ),
    },
    "tool-ex1": {
        "refuses all in mid-turn": (
            "return [n for n in range(1, len(kinds) + 1) if kinds[-n] != 'user']"
        ),
        "sees orphan results alone": (
            "return [n for n in range(1, len(kinds) + 1) if kinds[-n] == 'response']"
        ),
        "counts from the front": (
            "return [i for i, k in enumerate(kinds) if k in ('call', 'response')]"
        ),
        "odd ones": "return [n for n in range(1, len(kinds) + 1) if n % 2]",
    },
    "tool-ex2": {
        "by role": "return sum(c.role == 'user' for c in transcript)",
        "by text": (
            "return sum(c.role == 'user' and any(p.text for p in c.parts) for c in transcript)"
        ),
        "by pairs": "return len(transcript) // 2",
        "by answers": (
            "return sum(c.role == 'model' and any(p.text for p in c.parts) for c in transcript)"
        ),
    },
    "tool-ex3": {
        "two messages a turn": "return transcript[-2 * max_turns:]",
        "by role": (
            "s = [i for i, c in enumerate(transcript) if c.role == 'user']\n"
            "    return transcript[s[-max_turns:][0]:]"
        ),
        "by text": (
            "s = [i for i, c in enumerate(transcript)"
            " if c.role == 'user' and any(p.text for p in c.parts)]\n"
            "    return transcript[s[-max_turns:][0]:]"
        ),
        "needs enough turns": (
            "s = [i for i, c in enumerate(transcript) if is_turn_start(c)]\n"
            "    return transcript[s[-max_turns]:]"
        ),
    },
    "sum-ex1": {
        "knows the example": "return [covered + 1, covered + 2]",
        "begins one early": "return list(range(covered, arrived - keep))",
        "ends one early": "return list(range(covered + 1, arrived - keep))",
    },
    "sum-ex2": {
        "any difference": (
            "return next((i for i, (a, b) in enumerate(zip(good, bad)) if a != b), -1)"
        ),
        "not inside the good one": (
            "return next((i for i, (a, b) in enumerate(zip(good, bad)) if b not in a), -1)"
        ),
        "takes a part of a line for a line": (
            "return next((i for i, (a, b) in enumerate(zip(good, bad))"
            " if any(line not in a for line in b.splitlines())), -1)"
        ),
        "looks for a word": (
            "return next((i for i, b in enumerate(bad) if 'superseded' not in b), -1)"
        ),
    },
    "hyb-ex1": {
        "forgets the open turn": (
            "return max(0, (trigger - pins - summary - recent * step) // step)"
        ),
        "fewer than none": "return (trigger - pins - summary - (recent + 1) * step) // step",
        "forgets the pins": "return max(0, (trigger - summary - (recent + 1) * step) // step)",
    },
    "hyb-ex2": {
        "pins every fact": "return [f'{n}: {v[-1]}' for n, v in case.facts.items()]",
        "pins every fact in one line": (
            "return [str([v[-1] for v in case.facts.values()])]"
            " * len(case.turns[number - 1].needs)"
        ),
        "pins the oldest value": (
            "return [case.facts[n][0] for n in case.turns[number - 1].needs]"
        ),
        "pins all values": ("return [str(case.facts[n]) for n in case.turns[number - 1].needs]"),
        "pins the names": "return list(case.turns[number - 1].needs)",
        "takes the case's pins": "return case.pinned",
    },
    "cache-ex1": {
        "knows no cache": "return (long - short) * rate.input",
        "pays the cached part twice": (
            "return long * rate.input + cached * rate.cached - short * rate.input"
        ),
        "writes the prices down": "return (long - cached) * .75 + cached * .075 - short * .75",
    },
    "cache-ex2": {
        "rounds down": "return (4096 - first) // step + 2",
        "takes the prompt that is long enough": "return -((first - 4096) // step) + 1",
        "forgets a long beginning": "return -((first - 4096) // step) + 2",
    },
    "cache-ex3": {
        "cuts one turn early": (
            "return list(range(max_turns, turns + 1, max_turns - drop_to + 1))"
        ),
        "cuts too often": "return list(range(max_turns + 1, turns + 1, max_turns - drop_to or 1))",
    },
    "agent-ex1": {
        "keeps everything": "return transcript",
        "forgets the open turn": (
            "return [transcript[i] for a, b in turns(transcript) for i in (a, b - 1)]"
        ),
        "keeps the questions alone": (
            "*closed, (start, _) = turns(transcript)\n"
            "    return [transcript[a] for a, _ in closed] + transcript[start:]"
        ),
        "drops calls and results of every turn": (
            "return [c for c in transcript if kind(c) in ('user', 'model')]"
        ),
        "keeps one turn too many": (
            "*closed, before, (start, _) = [(0, 0), *turns(transcript)]\n"
            "    ends = [transcript[i] for a, b in closed if b for i in (a, b - 1)]\n"
            "    return ends + transcript[before[0]:]"
        ),
    },
    "agent-ex2": {
        "marked lines come first": (
            "marked = [s for s in lines if mark in s]\n"
            "    return (marked + [s for s in lines if mark not in s])[:max(most, len(marked))]"
        ),
        "cuts marked lines, too": (
            "marked = [s for s in lines if mark in s][:most]\n"
            "    return [s for s in lines if s in marked or len(marked) < most]"
        ),
        "looks for ERROR alone": (
            "room = most - sum('ERROR' in s for s in lines)\n"
            "    others = [s for s in lines if 'ERROR' not in s][:max(0, room)]\n"
            "    return [s for s in lines if 'ERROR' in s or s in others]"
        ),
        "lets the room be negative": (
            "room = most - sum(mark in s for s in lines)\n"
            "    others = [s for s in lines if mark not in s][:room]\n"
            "    return [s for s in lines if mark in s or s in others]"
        ),
    },
    "cmp-ex1": {
        "sends everything": "return transcript",
        "keeps the last turns alone": (
            "return transcript[[start for start, _ in turns(transcript)][-6:][0]:]"
        ),
        "keeps the customer's words alone": (
            "return [transcript[start] for start, _ in turns(transcript)]"
        ),
        "sends the case's facts": ("return [user(str(find('bug_desk').facts)), transcript[-1]]"),
    },
    "cmp-ex2": {
        "forgets ties": (
            "return [n for n, d, k in strategies"
            " if not any(e < d and j > k for _, e, j in strategies)]"
        ),
        "throws twins out": (
            "return [n for n, d, k in strategies"
            " if not any(e <= d and j >= k and m != n for m, e, j in strategies)]"
        ),
        "sorts them": (
            "best, found = -1, []\n"
            "    for n, d, k in sorted(strategies, key=lambda s: (s[1], -s[2])):\n"
            "        if k > best:\n"
            "            best = k\n"
            "            found.append(n)\n"
            "    return found"
        ),
    },
    "cmp-ex3": {
        "sends everything": "return Everything()",
        "takes one rule for both": "return LastTurns(2)",
        "turns them round": ("return my_strategy if conversation == 'hotline' else LastTurns(2)"),
    },
    "dial-ex1": {
        "goes by the role": "return [i for i, m in enumerate(messages) if m['role'] == 'user']",
        "takes texts alone": (
            "return [i for i, m in enumerate(messages)"
            " if m['role'] == 'user' and isinstance(m['content'], str)]"
        ),
        "searches the text": (
            "return [i for i, m in enumerate(messages)"
            " if m['role'] == 'user' and 'tool_result' not in str(m['content'])]"
        ),
        "looks at the first block": (
            "return [i for i, m in enumerate(messages) if m['role'] == 'user' and ("
            "isinstance(m['content'], str) or m['content'][0]['type'] != 'tool_result')]"
        ),
        "forgets the role": (
            "return [i for i, m in enumerate(messages) if isinstance(m['content'], str)"
            " or any(b['type'] != 'tool_result' for b in m['content'])]"
        ),
    },
    "dial-ex2": {
        "keeps the order of the results": (
            "names = {c['id']: c['function']['name'] for c in calls}\n"
            "    return types.Content(role='user', parts=[types.Part(function_response="
            "types.FunctionResponse(id=r['tool_call_id'], name=names[r['tool_call_id']],"
            " response={'result': r['content']})) for r in results])"
        ),
        "pairs them as they come": (
            "return types.Content(role='user', parts=[types.Part(function_response="
            "types.FunctionResponse(id=c['id'], name=c['function']['name'],"
            " response={'result': r['content']})) for c, r in zip(calls, results)])"
        ),
        "turns the results round": (
            "return types.Content(role='user', parts=[types.Part(function_response="
            "types.FunctionResponse(id=c['id'], name=c['function']['name'],"
            " response={'result': r['content']})) for c, r in zip(calls, results[::-1])])"
        ),
        "forgets the id": (
            "texts = {r['tool_call_id']: r['content'] for r in results}\n"
            "    return types.Content(role='user', parts=[types.Part(function_response="
            "types.FunctionResponse(name=c['function']['name'],"
            " response={'result': texts[c['id']]})) for c in calls])"
        ),
    },
    "dial-ex3": {
        "changes nothing": "return contents",
        "signs all calls": (
            "copies = [c.model_copy(deep=True) for c in contents]\n"
            "    for c in copies:\n"
            "        if kind(c) == 'call':\n"
            "            c.parts[0].thought_signature = PLACEHOLDER\n"
            "    return copies"
        ),
        "signs the last call alone": (
            "copies = [c.model_copy(deep=True) for c in contents]\n"
            "    [c for c in copies if kind(c) == 'call'][-1]"
            ".parts[0].thought_signature = PLACEHOLDER\n"
            "    return copies"
        ),
        "signs the results, too": (
            "copies = [c.model_copy(deep=True) for c in contents]\n"
            "    for c in copies[turns(contents)[-1][0] + 1:]:\n"
            "        c.parts[0].thought_signature = PLACEHOLDER\n"
            "    return copies"
        ),
        "signs what it got": (
            "for c in contents[turns(contents)[-1][0]:]:\n"
            "        if kind(c) == 'call':\n"
            "            c.parts[0].thought_signature = PLACEHOLDER\n"
            "    return contents"
        ),
        "sends the last turn alone": "return sendable(contents[turns(contents)[-1][0]:])",
    },
    "live-ex1": {
        "forgets the roles": (
            "return prompt + candidates + (0 if dropped else thoughts) + question"
        ),
        "always with the thoughts": "return prompt + candidates + thoughts + question + 2",
        "one role": ("return prompt + candidates + (0 if dropped else thoughts) + question + 1"),
        "forgets the answer": "return prompt + (0 if dropped else thoughts) + question + 2",
    },
    "live-ex2": {
        "rounds down": ("n = students * calls\n    return n * dollars, n // per_minute"),
        "always one more": ("n = students * calls\n    return n * dollars, n // per_minute + 1"),
        "does not round": "n = students * calls\n    return n * dollars, n / per_minute",
        "pays per student": (
            "n = students * calls\n    return students * dollars, -(-n // per_minute)"
        ),
        "lets each have the minute": (
            "n = students * calls\n    return n * dollars, -(-calls // per_minute)"
        ),
        "rounds": "n = students * calls\n    return n * dollars, round(n / per_minute)",
    },
}
