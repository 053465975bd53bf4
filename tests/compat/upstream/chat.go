package main

// chat is the form of chat completions.
type chat struct{}

func (chat) messages(r request) []said { return r.Messages }

func (chat) whole(r reply) object {
	message := object{"role": "assistant", "content": r.text}
	reason := "stop"
	if r.tool != "" {
		reason = "tool_calls"
		message = object{"role": "assistant", "content": nil, "tool_calls": []object{call(r.tool, arguments)}}
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted",
		"choices": []object{{"index": 0, "message": message, "finish_reason": reason}},
		"usage":   object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}
}

func call(name, arguments string) object {
	return object{"id": "call_1", "type": "function", "function": object{"name": name, "arguments": arguments}}
}

func (chat) stream(r reply) (events []object, named bool) {
	chunk := func(delta object, reason any) {
		events = append(events, object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": reason}},
		})
	}
	if r.tool == "" {
		chunk(object{"role": "assistant", "content": ""}, nil)
		for _, word := range words(r.text) {
			chunk(object{"content": word}, nil)
		}
		chunk(object{}, "stop")
		return events, false
	}
	first := call(r.tool, "")
	first["index"] = 0
	chunk(object{"role": "assistant", "content": nil, "tool_calls": []object{first}}, nil)
	for _, part := range []string{arguments[:5], arguments[5:]} {
		chunk(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": part}}}}, nil)
	}
	chunk(object{}, "tool_calls")
	return events, false
}
