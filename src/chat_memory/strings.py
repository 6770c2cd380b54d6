"""Every sentence, label and banner a reader sees, as one string under one id.

The English edition is the dict `EN`; a Korean edition will be a second dict with the same ids.
An id is `place.what`; ids stand in alphabetical order, so that two editions can lie side by side.
A string is a whole label or a whole sentence with named holes: no code glues pieces together,
because the order of the pieces, and the particles between them, differ from language to language.
What is not here: Markdown of the notebooks, texts of conversations (`data/`), errors that only
a programmer meets, and the names of the API (`promptTokenCount`), which no edition translates.
"""

EN = {
    "agents.left_out": "[... {tokens:,} tokens left out ...]",
    "agents.title": (
        "In call {call} trimming sends {trimmed:,} tokens, everything {whole:,}, "
        "notes alone {focused:,}"
    ),
    "agents.title.turn": "One question sets off {calls} calls; the last one sends {tokens:,} tokens",
    "banner.live": "Gemini answers: {model}. Each call uses your key.",
    "banner.offline": (
        "Offline stand-in for {model}, not a language model: it recites a script and quotes "
        "your own words; the token counts are Gemini's, the words are ours."
    ),
    "cache.cheapest": "{turns} turns: {rule} with n = {n} is cheapest, ${dollars} for 1,000 chats",
    "cache.live.none": (
        "No key is set, so nothing was sent. With a key this cell makes two calls of about "
        "{tokens:,} tokens that begin alike, and prints the cachedContentTokenCount of each."
    ),
    "cache.title": "{cached:,} of {tokens:,} prompt tokens cached: the chat costs ${dollars:.4f}",
    "chart.bill": "tokens of the whole chat",
    "chart.cached": "read from the cache",
    "chart.call": "call",
    "chart.context_limit": "context_limit (turns)",
    "chart.estimated": "≈ the count is estimated",
    "chart.fresh": "billed in full",
    "chart.label": "{name}: {value}",
    "chart.limit": "limit {tokens:,} tokens",
    "chart.limit.above": "the limit of {tokens:,} tokens is far above this axis",
    "chart.max_turns": "turns sent (n)",
    "chart.minimum": "minimum of the implicit cache: {tokens:,} tokens",
    "chart.minimum.above": (
        "the minimum of the implicit cache, {tokens:,} tokens, is far above this axis"
    ),
    "chart.money.sum": "US dollars so far",
    "chart.money.turn": "US dollars a turn",
    "chart.new": "new messages",
    "chart.prefix": "begins like the call before",
    "chart.prompt": "promptTokenCount",
    "chart.refused": "refused",
    "chart.resent": "messages sent before",
    "chart.saving": "input tokens saved (%)",
    "chart.sent": "tokens of the messages sent",
    "chart.sum": "sum of promptTokenCount",
    "chart.system": "system and tools",
    "chart.thoughts": "thoughts sent again",
    "chart.thousand": "US dollars for 1,000 chats",
    "chart.title.cache": "{cached:,} of {tokens:,} prompt tokens were read from the cache",
    "chart.title.cache.none": "None of {tokens:,} prompt tokens was read from the cache",
    "chart.title.curve.many": "At the end {most} stands at {high}, {least} at {low}",
    "chart.title.curve.one": "At {turn} the line ends with {value}",
    "chart.title.empty": "Nothing is sent yet",
    "chart.title.money.sum.many": "In all, {most} costs {high}, and {least} costs {low}",
    "chart.title.money.sum.one": "Up to turn {turn} the calls cost {value}",
    "chart.title.money.turn.many": "The last turn costs {high} ({most}) or {low} ({least})",
    "chart.title.money.turn.one": "Turn {turn} costs {value}",
    "chart.title.refused": "Gemini refuses {refused} of {turns} turns, each marked with a cross",
    "chart.title.stack": "Turn {turn} sends {tokens:,} tokens, and {new:,} of them are new",
    "chart.title.sum.many": "In all, {most} sends {high} tokens, and {least} sends {low}",
    "chart.title.sum.one": "Up to turn {turn} the prompts add up to {value} tokens",
    "chart.title.tokens.many": "In the last turn {most} sends {high} tokens, {least} sends {low}",
    "chart.title.tokens.one": "Turn {turn} sends {value} tokens",
    "chart.turn": "turn",
    "chat.came": "came back",
    "chat.clear": "Clear the list",
    "chat.empty": "The list is empty.",
    "chat.newest": "send only the newest message",
    "chat.not_sent": "not sent",
    "chat.placeholder": "Write a message and press Enter",
    "chat.send": "Send",
    "chat.sent": "sent",
    "check.broken": "The check itself cannot go on ({error}): tell your teacher.",
    "check.changes": "Input {input}: the answer is right, but yours changes what it was given.",
    "check.differs": "Input {input}: yours gives {mine}, expected {expected}.",
    "check.dots": "Still three dots: write your answer in their place, then run this cell again.",
    "check.inside": "Input {input}: at {place} yours gives {mine}, expected {expected}.",
    "check.leaves": "Input {input}: the answer is right, but what was given has to change too.",
    "check.no_cases": "There is no case to compare: give compare at least one.",
    "check.no_error": "Input {input}: yours gives an answer, expected {error}.",
    "check.no_function": "Yours is {mine}, but a function is needed: write `def` and try again.",
    "check.no_number": "Not yet: {mine} is no number: write one, without quotes or brackets.",
    "check.no_value": "Yours is a function, but its value is needed: call it.",
    "check.none": "Input {input}: yours gives None, expected {expected}; is there a `return`?",
    "check.right": "Right: all {count} cases agree.",
    "check.right.one": "Right: the case agrees.",
    "check.right.value": "Right: {mine}.",
    "check.stops": "Input {input}: yours stops with {error}",
    "check.stops.content": (
        "Input {input}: yours stops with {error}; each message has to be a types.Content."
    ),
    "check.too_large": "Not yet: {mine} is too large.",
    "check.too_small": "Not yet: {mine} is too small.",
    "check.wrong": "Not yet: {mine} is not the answer.",
    "cli.bill": "At the prices of {as_of} this is {dollars:.6f} US dollars.",
    "cli.calls": "  the model calls {name}({arguments})",
    "cli.chat": "Write a message. /clear begins a new list, /quit ends the chat.",
    "cli.cleared": "(/clear: the list is empty, and nothing was sent)",
    "cli.either": "Name conversations to play, or a file with --chat to recount: not both.",
    "cli.interrupted": "Interrupted: the turns that were finished are kept, the open one is not.",
    "cli.model": "Gemini: {text}",
    "cli.no_command": "{word} is not a command: there are /clear and /quit.",
    "cli.no_pins": (
        "{name} pins nothing, so hybrid has nothing to pin: leave it out, or take a conversation "
        "with pins."
    ),
    "cli.no_price": "data/models.toml has no price of {model}, so there is no sum in dollars.",
    "cli.prompt": "You: ",
    "cli.result": "  {name} gives {result}",
    "cli.saved": "The run log is in {path}.",
    "cli.stopped": "Interrupted: the table holds what was finished.",
    "cli.strategy": (
        "The strategy {spec} is not known: write everything, last-turns:6, last-turns:6:2, "
        "last-messages:6, summary-pairs:8:4, key-facts:6, hybrid:6, shorten-results:500, "
        "conclusions:0, focus or drop-thoughts."
    ),
    "cli.sum": (
        "In all: prompt {promptTokenCount:,}, thoughts {thoughtsTokenCount:,}, "
        "candidates {candidatesTokenCount:,}, total {totalTokenCount:,}."
    ),
    "cli.user": "You: {text}",
    "compare.again": "again",
    "compare.best": "$ best",
    "compare.cached": "cached",
    "compare.conversation": "conversation",
    "compare.extra": "extra",
    "compare.facts": "facts",
    "compare.full": "$ full",
    "compare.gemini": "Gemini refuses the request ({code} {status}): {message}",
    "compare.judge.dear": "all facts in the request, and another strategy costs less",
    "compare.judge.large": "all facts in the request, and too many tokens sent",
    "compare.judge.lost": "only {kept} of {of} facts in the request",
    "compare.judge.right": "all facts in the request, for little",
    "compare.mark": " *",
    "compare.messages": "messages",
    "compare.most": "$ full, 4 of 5 facts",
    "compare.note.case": "* Offline, its facts come from the case file: a best case.",
    "compare.note.money": (
        "$ best: the cache hits whenever it may. $ full: nothing is cached. facts: probes whose "
        "facts were sent."
    ),
    "compare.note.pins": "LayeredHybrid is left out of {names}: nothing is pinned there.",
    "compare.note.refused": "{strategy} stops {conversation} at {reason}",
    "compare.note.turns": (
        "wrong: turns with an old or invented value. again: turns in which the customer repeats "
        "himself."
    ),
    "compare.refused": "turn {turn}: {reason}",
    "compare.strategy": "strategy",
    "compare.thoughts": "thoughts",
    "compare.tools": "tools",
    "compare.wrong": "wrong",
    "control.after_turns": "closed turns that keep their steps (after_turns)",
    "control.answer": "words in an answer",
    "control.cached_price": "price of cached input, % of input",
    "control.clear_every": "turns between two /clear (0: never)",
    "control.context_limit": "turns before a summary (context_limit)",
    "control.conversation": "conversation",
    "control.door_hint": "pin the bell to ring",
    "control.drop_to": "turns left after a cut (drop_to)",
    "control.finish": "pin the finish of the table top",
    "control.form": "form of the file",
    "control.keep": "turns kept (keep_last_n_turns)",
    "control.last_messages": "messages sent (n)",
    "control.max_turns": "turns sent (max_turns)",
    "control.order_number": "pin the order number",
    "control.recent_turns": "turns kept word for word (recent_turns)",
    "control.system": "tokens in the system instruction",
    "control.thinking": "the model thinks",
    "control.tool_tokens": "tokens that a tool brings",
    "control.trigger": "tokens before a summary (trigger)",
    "control.turn": "turn",
    "control.turns": "turns in the chat",
    "cost.title": "{turns} turns send {sum:,} tokens in all",
    "dialect.arguments": (
        "Arguments are no JSON object; they are kept as the text they are ({where})."
    ),
    "dialect.arguments.object": (
        "Arguments are an object and no text; they are written back as text ({where})."
    ),
    "dialect.beginning": (
        "The chat begins with a call; a message of the user stands before it that says so."
    ),
    "dialect.beside": "Beside the chat, the file holds this, which is not kept: {keys}.",
    "dialect.chats": "The file holds {chats} chats, and this is number {chat}.",
    "dialect.half_letter": "Half a letter (a lone surrogate) became a question mark.",
    "dialect.id": "A call has no id; one is made up ({where}).",
    "dialect.image": "An image is kept; how many tokens it weighs is unknown ({where}).",
    "dialect.key": "The key {key} has no place in a chat and is not kept ({where}).",
    "dialect.lines": "Lines hold messages only, so {key} is not in the file: save it as .json.",
    "dialect.lost.data": (
        "Data such as an image has no place in the form {form} here; it is left out ({where})."
    ),
    "dialect.lost.mark": (
        "The key {key} of the form {other} has no place in the form {form} ({where})."
    ),
    "dialect.lost.order": "The form {form} holds a text before the calls it came after ({where}).",
    "dialect.lost.part": (
        "A part of the kind {kind} has no place in the form {form}; it is left out ({where})."
    ),
    "dialect.lost.signature": (
        "Gemini's signature has no place in the form {form}; it is left out ({where})."
    ),
    "dialect.lost.thought": (
        "Thinking of another model has no place in the form {form}; it is left out ({where})."
    ),
    "dialect.lost.unknown": "A block that only the form {form} knows is left out ({where}).",
    "dialect.missing": "(The beginning of this chat is missing.)",
    "dialect.moved": "What stands between a call and its result follows the result now ({where}).",
    "dialect.no_name": "unknown",
    "dialect.no_result": "The log holds no result of this call.",
    "dialect.no_role": "A content has no role; it is taken as the user's ({where}).",
    "dialect.old_call": (
        "A call is in OpenAI's old function_call; it is written as a tool call ({where})."
    ),
    "dialect.ordered": "A result has no id; it answers the call whose turn it is ({where}).",
    "dialect.result.object": "A result is no text; it is kept as the object it is ({where}).",
    "dialect.result.order": "A result's texts stand before its other blocks now ({where}).",
    "dialect.row_keys": "The lines hold more than a message, and these keys are not kept: {keys}.",
    "dialect.rows": "A line of the kind {kind} holds no message and is left out ({where}).",
    "dialect.run_dropped": (
        "The strategy had dropped {count} messages, so they are not in the log's request."
    ),
    "dialect.second": "A call has a second result; it is kept as an unknown block ({where}).",
    "dialect.sidechain": "A line belongs to another agent's chat and is left out ({where}).",
    "dialect.stray": "A result has no call; it is kept as an unknown block ({where}).",
    "dialect.system": (
        "A system message stands inside the chat; it is kept there as the user's ({where})."
    ),
    "dialect.systems": (
        "{count} system messages are one instruction now, with a blank line between."
    ),
    "dialect.text.beside": "Plain text holds neither the system instruction nor the tools.",
    "dialect.text.call": (
        "A line is no call or result that can be read; it is kept as text ({where})."
    ),
    "dialect.text.command": (
        "The line {command} is a command and no message; it is left out ({where})."
    ),
    "dialect.text.id": "Plain text holds no ids of calls and results ({where}).",
    "dialect.text.line": (
        "Line {line} is not indented; it is kept as part of the message before it ({where})."
    ),
    "dialect.title": "In turn {turn} the messages sent weigh {tokens:,} tokens",
    "dialect.tool": "The tool {name} is no function of the program and is not kept.",
    "dialect.tool.key": "The key {key} of a tool has no place here and is not kept.",
    "dialect.unanswered": (
        "A call of {name} has no result; one that says so is put in before this ({where})."
    ),
    "dialect.unknown": (
        "A block of the type {kind} is kept as unknown; so is its weight ({where})."
    ),
    "dialect.unnamed": "A call has no name; it is called unknown ({where}).",
    "dialect.where.many": "messages {numbers}",
    "dialect.where.more": "messages {numbers} and {more} more",
    "dialect.where.one": "message {numbers}",
    "error.bad_key": (
        "Gemini does not accept the key: check GEMINI_API_KEY, or work offline with "
        "connect(offline=True)."
    ),
    "error.blank": "The message is blank: write some text, and send it again.",
    "error.blocked": (
        "Gemini blocked the message ({reason}): word it differently, and send it again."
    ),
    "error.busy": "Gemini is busy or has failed ({code} {status}): send the same message again.",
    "error.chat.beside": "The file has a value of a wrong type at {place}: mend it there.",
    "error.chat.content": (
        "The content of message {number} is neither a text nor a list of blocks: mend it there."
    ),
    "error.chat.deep": "{path} is nested too deeply to be a chat: give another file.",
    "error.chat.empty": "{path} holds no message: give a file with at least one.",
    "error.chat.form": "There is no form {form!r}: take one of {forms}.",
    "error.chat.half_letter": (
        "The chat holds half a letter (a lone surrogate), so {path} can't be written: type "
        "that message again."
    ),
    "error.chat.json": (
        "Line {line} of {path} is no whole JSON: the file is cut off there, or broken."
    ),
    "error.chat.large": (
        "{path} has {size:.1f} MB, and at most {largest} MB are read: give a part of it."
    ),
    "error.chat.message": (
        "Message {number} is of the type {kind}, and a message is an object with a role: mend"
        " it there."
    ),
    "error.chat.mixed": (
        "Message {first} is in the form {form}, and message {number} in the form {other}: "
        "give a file in one form."
    ),
    "error.chat.no_role": "Message {number} has no role; in the form {form} it is one of {roles}.",
    "error.chat.none": (
        "No chat is found in the file: give a list of messages, or an object with messages, "
        "contents, history or input."
    ),
    "error.chat.number": (
        "There is no chat {chat} in {path}; it holds {chats}: take a number from 1 on."
    ),
    "error.chat.read": "{path} can't be read ({reason}): check the path.",
    "error.chat.refused": "{path} can't be made a chat that Gemini accepts: {reason}",
    "error.chat.role": (
        "Message {number} has the role {role!r}; in the form {form} it is one of {roles}."
    ),
    "error.chat.shape": "Message {number} has a value of a wrong type at {place}: mend it there.",
    "error.chat.utf8": "Line {line} of {path} is not UTF-8: save the file in that encoding.",
    "error.chat.write": "{path} can't be written ({reason}): name another place, and save again.",
    "error.cut": "The answer was cut off ({reason}), so it was not kept: ask for a shorter one.",
    "error.dropped": (
        "The answer broke off before its end, so it was not kept: send the same message again."
    ),
    "error.empty": "Gemini answered with nothing: send the same message again.",
    "error.faults": "Faults can only be played offline: write connect(offline=True, faults=...).",
    "error.half_letter": "The message holds half a letter (a lone surrogate): type it again.",
    "error.malformed_call": (
        "Gemini wrote a function call that can't be read ({reason}): send the same message again."
    ),
    "error.network": (
        "Gemini can't be reached: check the network, or work offline with connect(offline=True)."
    ),
    "error.no_call": (
        "breakdown takes one call, such as session.calls[-1], and this is of type {kind}."
    ),
    "error.no_calls": (
        "total takes a session or a list of calls, and can't add up an object of type {kind}."
    ),
    "error.no_conversation": (
        "There is no conversation called {name}: take one of {names}, or give the path of a file."
    ),
    "error.no_key": (
        "A live client needs a key: set GEMINI_API_KEY, or work offline with "
        "connect(offline=True)."
    ),
    "error.no_model": (
        "Gemini has no model called {model}: name another one in CHAT_MEMORY_MODEL, or as model=."
    ),
    "error.no_probe": "Turn {turn!r} is no probe of {script}; its probes are turns: {probes}.",
    "error.no_strategy": (
        "The strategy {strategy} can't be used: give one such as LastTurns(max_turns=4), or a "
        "function."
    ),
    "error.no_text": (
        'A message is a text, in quotes, and this is of type {kind}: write send("Hello.").'
    ),
    "error.not_played": "{label} has not played turn {turn}: play at least {turn} turns.",
    "error.quota": (
        "The quota of this key is used up (429), and waiting does not help now: work offline "
        "with connect(offline=True), or come back tomorrow."
    ),
    "error.rate_limit": (
        "Too many requests (429): wait {seconds} seconds, and send the same message again."
    ),
    "error.refused": (
        "Gemini refuses this request ({code} {status}): {message} Look at the contents of the "
        "session's last call."
    ),
    "error.run_broken": "{path} is no run log: give a file that session.save has written.",
    "error.run_read": "The run log {path} can't be read ({reason}): check the path.",
    "error.run_write": (
        "The run log {path} can't be written ({reason}): name another place, and save again."
    ),
    "error.stopped": (
        "Gemini stopped before an answer ({reason}): word the message differently, and send it "
        "again."
    ),
    "error.too_many_calls": (
        "The model asked for tools in {calls} calls and gave no answer: look at what the tools "
        "return, or raise max_calls."
    ),
    "error.unknown_script": (
        "The offline stand-in does not know {name}: write connect(conversations=[...]) with "
        "this conversation in it."
    ),
    "experiment.bad_key": (
        "This can't be a key, for it holds spaces or letters no key has: run the cell again and "
        "type it once more."
    ),
    "experiment.cache.agrees": (
        "All {chances} calls that could hit did: {measured:,} of {predicted:,} tokens were read "
        "from the cache."
    ),
    "experiment.cache.differs": (
        "{hits} calls hit where {chances} could: {measured:,} tokens were read from the cache "
        "where {predicted:,} begin alike. A miss breaks no promise, and a hit at a first call "
        "comes from an earlier run."
    ),
    "experiment.cache.rests": (
        "The prediction is the best case: from the minimum on, all that begins like the prompt "
        "before is read from the cache. Gemini never guarantees a hit."
    ),
    "experiment.cap.calls": (
        "The maximum of {calls} requests is reached, so the next one was not sent: what was "
        "measured is kept."
    ),
    "experiment.cap.dollars": (
        "With the next request the bill could pass ${dollars:.2f}, so it was not sent: what was "
        "measured is kept."
    ),
    "experiment.cost": "The {calls} calls cost ${dollars:.4f}.",
    "experiment.difference": "difference",
    "experiment.dollars": "US dollars at most",
    "experiment.estimated": "≈ Some words are in no table, so the counts are estimated.",
    "experiment.key": "Gemini API key (Enter alone sends nothing): ",
    "experiment.level": "thinking {level}",
    "experiment.limits": (
        "Above {calls} requests, repeated ones counted, or ${dollars:.2f}, nothing more is sent."
    ),
    "experiment.measured": "measured",
    "experiment.model.agrees": "All {calls} prompts are as predicted: these models count alike.",
    "experiment.model.differs": (
        "Only {same} of {calls} prompts are as predicted: a model counts by other rules, the "
        "figures of this workbook do not hold for it, and that is the lesson."
    ),
    "experiment.model.rests": (
        "The prediction rests on one vocabulary and one set of rules, for all models from "
        "gemini-3.5 on."
    ),
    "experiment.no_key": (
        "There is no key, so no cell here sends anything: each says what it would do."
    ),
    "experiment.not_sent": (
        "Nothing was sent. With a key this cell sends {calls} calls, writes a run log after each, "
        "and lays what Gemini reports beside the prediction."
    ),
    "experiment.predicted": "{count} predicted",
    "experiment.price": (
        "{calls} calls: ${scripted:.4f} as the script goes, at most ${dollars:.4f} if every "
        "answer takes {most:,} tokens, at the prices of {as_of}."
    ),
    "experiment.refused": (
        "This experiment makes {calls} calls for up to ${dollars:.4f}, and its maximum is "
        "{max_calls} requests and ${max_dollars:.2f}: play fewer turns, or raise the maximum."
    ),
    "experiment.saved": "The run logs are in runs/{folder}.",
    "experiment.signatures.agrees": (
        "All {calls} prompts are as predicted: a dropped signature takes its thoughts out of "
        "the bill."
    ),
    "experiment.signatures.differs": (
        "Only {same} of {calls} prompts are as predicted: a signature adds something else than "
        "our rule says, and that is the lesson."
    ),
    "experiment.signatures.rests": (
        "The prediction rests on one rule: a signature that is sent again adds the thoughts of "
        "its reply, and one that is dropped adds nothing."
    ),
    "experiment.thinking.agrees": (
        "All {calls} prompts are as predicted: what was thought came back in the next prompt, "
        "and the setting costs nothing."
    ),
    "experiment.thinking.differs": (
        "Only {same} of {calls} prompts are as predicted: the setting itself costs tokens, or "
        "thoughts come back otherwise than our rule says, and that is the lesson."
    ),
    "experiment.thinking.rests": (
        "The prediction rests on two rules: a setting costs nothing in the prompt, and what was "
        "thought comes back with its signature. How long a model thinks at a low level, no rule "
        "says."
    ),
    "experiment.thoughts": "thoughts scripted",
    "filler.answer": (
        "this answer goes on and on with one more plain word after the other so that it has "
        "the length that was asked for and"
    ),
    "filler.conclusion": "Turn {number}: nothing of note up to page {page}.",
    "filler.done": "Task {number} is done.",
    "filler.question": "Question {number:03}, please?",
    "frontier.dollars": "US dollars for the chat, the cache at its best",
    "frontier.facts": "facts",
    "frontier.kept": "facts in the request",
    "frontier.line": "frontier",
    "frontier.prompt": "sum of promptTokenCount",
    "frontier.refused": "{strategy} is no point: refused at {reason}",
    "frontier.rot": (
        "○ Offline it looks perfect; real models are reported to get worse with length "
        "(context rot)."
    ),
    "frontier.title": "{strategy} has {kept} of {probes} facts in the request for least: {worth}",
    "frontier.title.none": "Every strategy is refused",
    "frontier.uncached": "US dollars for the chat, nothing cached",
    "growing.turn": "turn {turn} of {turns}",
    "label.cached": "with the cache",
    "label.clear_every": "/clear every {turns} turns",
    "label.thinking_off": "thinking off",
    "label.thinking_on": "thinking on",
    "label.uncached": "without the cache",
    "lens.data": "(data)",
    "lens.dropped": "dropped",
    "lens.error": "Turn {turn} sent nothing. Choose a turn from 1 to {last}.",
    "lens.kept": "kept",
    "lens.number": "message",
    "lens.pair": "in their place",
    "lens.pinned": "pinned",
    "lens.place": "place",
    "lens.role": "role",
    "lens.shortened": "shortened",
    "lens.summarised": "inside the summary",
    "lens.system": "system",
    "lens.title": "In turn {turn} the model sees {seen} of {all} messages",
    "lens.tokens": "tokens",
    "lens.words": "first words",
    "live.error.api": "{code} {status}: {message}",
    "msg.how_many_seconds": "How many seconds did you say?",
    "predict.agent.1": "about half, for old steps are cut",
    "predict.agent.2": "the question and the newest step",
    "predict.agent.3": "the same, for the open turn is never cut",
    "predict.agent.question": (
        "An agent takes twelve steps in its first turn. LastTurns(1) keeps only the newest turn. "
        "What does it send in the last call of that turn, compared with Everything()?"
    ),
    "predict.best.1": "LayeredHybrid: it was made for that",
    "predict.best.2": "Everything: the cache makes it cheap",
    "predict.best.3": "none: each conversation has another one",
    "predict.best.question": "Which strategy keeps all facts for the least money, in every conversation?",
    "predict.button": "I have written my prediction",
    "predict.clear.1": "it halves every prompt after turn 12",
    "predict.clear.2": "it tells the server to forget, which costs one more request",
    "predict.clear.3": "the next request holds the system and one question, and nobody is told",
    "predict.clear.question": "What does clearing after turn 12 of 24 do?",
    "predict.enough.1": "10",
    "predict.enough.2": "6",
    "predict.enough.3": "19",
    "predict.enough.question": "Which max_turns is enough for this customer's order number?",
    "predict.even.1": "every even n, since messages come in pairs",
    "predict.even.2": "every n of 4 or more, since a turn with a tool has four messages",
    "predict.even.3": "none from 1 to 12",
    "predict.even.question": "For which n is a window of the last n messages always accepted?",
    "predict.hundred.1": "5 times as much as 20 turns",
    "predict.hundred.2": "10 times as much as 20 turns",
    "predict.hundred.3": "about 25 times as much as 20 turns",
    "predict.hundred.question": "What does a chat of 100 turns cost?",
    "predict.kept": "You predicted: {choice}.",
    "predict.kept.answer": "You predicted: {choice}. The figure shows: {answer}.",
    "predict.kept.move": "You predicted: {choice}. Now move the controls, and watch the figure.",
    "predict.kept.send": "You predicted: {choice}. Now send two messages, and watch the figure.",
    "predict.limit.1": "the smallest: short lists are cheap",
    "predict.limit.2": "the largest: no summary is cheaper than one",
    "predict.limit.3": "one in between",
    "predict.limit.question": "With which context_limit is the whole chat cheapest?",
    "predict.pin.1": "nothing: the system instruction is sent once, so pin everything",
    "predict.pin.2": "too much: with every pin the whole chat becomes dearer",
    "predict.pin.3": "its tokens at every call, and a good pin saves more than that",
    "predict.pin.question": "What does it cost to pin a fact?",
    "predict.prefix.1": "the 3,000 tokens, for half as much is sent",
    "predict.prefix.2": "neither: the cache takes the same off both",
    "predict.prefix.3": "the 6,000 tokens, for most of them are read from the cache",
    "predict.prefix.question": (
        "Which calls cost less: 3,000 tokens each, or 6,000 that all begin alike?"
    ),
    "predict.second_call.1": "its own question",
    "predict.second_call.2": "its own question and the answer before it",
    "predict.second_call.3": "the whole first call again, and its own question",
    "predict.second_call.question": "What does the second call of a chat cost?",
    "predict.trigger.1": "the bill falls with every step",
    "predict.trigger.2": "the bill rises with every step, for each summary costs a call",
    "predict.trigger.3": "the bill falls, rises again, and in the end the trigger is refused",
    "predict.trigger.question": "What happens when you lower the trigger step by step?",
    "probe.lost": "lost",
    "recount.best": "$ best",
    "recount.cached": "cached",
    "recount.calls": "calls",
    "recount.dropped": (
        "This chat was recorded with a strategy that drops messages, so they are not in it: "
        "record it with Everything()."
    ),
    "recount.extra": "extra",
    "recount.facts": (
        "It asks for facts, and offline they are found only in a case file: play it on one, or "
        "take another strategy for this chat."
    ),
    "recount.full": "$ full",
    "recount.gone": "{fact} gone",
    "recount.largest": "largest",
    "recount.note.estimated": (
        "Some words are not in the word table, so counts are estimates; with "
        "CHAT_MEMORY_TOKENIZER they are exact."
    ),
    "recount.note.left_out": (
        "KeyFacts is left out, for offline it finds facts only in a case file; LayeredHybrid, for "
        "nothing is pinned here."
    ),
    "recount.note.money": (
        "$ best: the cache brings whatever a prompt has in common with the one before. $ full: "
        "nothing is cached. Both hold the extra calls, for summaries."
    ),
    "recount.note.refused": "{strategy}: {refused:,} of {calls:,} calls are refused; {why}",
    "recount.note.stopped": "{strategy} stops at {why}",
    "recount.prompts": "prompts",
    "recount.refused": "call {call} is refused ({code} {status}): {message}",
    "recount.stopped": "call {call}: {reason}",
    "recount.strategy": "strategy",
    "sum.lowest": "The whole chat is cheapest at context_limit {limit}: {bill:,} tokens",
    "sum.title": "{bill:,} tokens in all, with {notes} summaries among the calls",
    "summary.blank": "The summariser wrote nothing, so the turns stay as they are.",
    "summary.cleared": "The chat was cleared or changed meanwhile, so this was not taken.",
    "summary.failed": "The call failed, so the turns stay as they are: {reason}",
    "summary.language": "The summary is in another language than the chat, so it was not taken.",
    "summary.long": (
        "The summary weighs {size:,} tokens and would replace {room:,}, so it was not taken."
    ),
    "summary.no_facts": "The reply is no list of facts, so the turns stay as they are.",
    "summary.no_heading": (
        "The reply has none of the headings that were asked for, such as {heading!r}, so it was "
        "not taken."
    ),
    "summary.thrashing": (
        "{turns} turns and a summary already weigh {kept:,} of {limit:,} tokens; this would "
        "summarise at every call: keep fewer turns, or raise the limit."
    ),
    "table.cached": "cached",
    "table.call": "call",
    "table.chat": "chat",
    "table.contents": "contents",
    "table.dollars": "US dollars",
    "table.extra": "extra calls",
    "table.fact": "fact in the request",
    "table.gaps": "turns without their fact",
    "table.lost_in": "probes lost, by turn",
    "table.new": "new",
    "table.no": "no",
    "table.number": "number",
    "table.pinned": "facts pinned",
    "table.prompt": "prompt when asked",
    "table.resent": "sent before",
    "table.role": "role",
    "table.saved": "tokens saved",
    "table.state": "state",
    "table.strategy": "strategy",
    "table.sum": "sum of prompts",
    "table.text": "message",
    "table.tokens": "tokens",
    "table.yes": "yes",
}


def t(name: str, /, **values: object) -> str:
    """Give the string with this id, its holes filled.

    >>> t("chart.limit", tokens=3000)
    'limit 3,000 tokens'
    """
    if name not in EN:
        raise ValueError(
            f"strings.py has no string {name!r}: add it there, in alphabetical order."
        )
    return EN[name].format(**values)
