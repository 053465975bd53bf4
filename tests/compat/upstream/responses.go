package main

import "encoding/json"

// responses is the form of the Responses API.
type responses struct{}

func (responses) messages(r request) []said {
	var items []said
	if json.Unmarshal(r.Input, &items) != nil {
		return []said{{Role: "user", Content: r.Input}}
	}
	return items
}

func (responses) whole(r reply) object {
	return object{
		"id": "resp_1", "object": "response", "created_at": 1, "model": "scripted", "status": "completed",
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{}, "tools": []object{},
		"tool_choice": "auto", "parallel_tool_calls": true, "temperature": 1, "top_p": 1, "output": []object{item(r)},
	}
}

// item is the one item of an answer's output.
func item(r reply) object {
	if r.tool != "" {
		return object{
			"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_1", "name": r.tool,
			"arguments": arguments,
		}
	}
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
		"content": []object{{"type": "output_text", "text": r.text, "annotations": []object{}, "logprobs": []object{}}},
	}
}

func (f responses) stream(r reply) (events []object, named bool) {
	send := func(kind string, event object) {
		event["type"], event["sequence_number"] = kind, len(events)
		events = append(events, event)
	}
	begun := f.whole(r)
	begun["status"], begun["output"] = "in_progress", []object{}
	send("response.created", object{"response": begun})
	empty := item(reply{tool: r.tool})
	empty["status"] = "in_progress"
	delete(empty, "arguments")
	if r.tool == "" {
		empty["content"] = []object{}
	} else {
		empty["arguments"] = ""
	}
	send("response.output_item.added", object{"output_index": 0, "item": empty})
	if r.tool == "" {
		at := func(more object) object {
			more["item_id"], more["output_index"], more["content_index"] = "msg_1", 0, 0
			return more
		}
		part := func(text string) object {
			return object{"type": "output_text", "text": text, "annotations": []object{}, "logprobs": []object{}}
		}
		send("response.content_part.added", at(object{"part": part("")}))
		for _, word := range words(r.text) {
			send("response.output_text.delta", at(object{"delta": word, "logprobs": []object{}}))
		}
		send("response.output_text.done", at(object{"text": r.text, "logprobs": []object{}}))
		send("response.content_part.done", at(object{"part": part(r.text)}))
	} else {
		at := object{"item_id": "fc_1", "output_index": 0, "delta": arguments}
		send("response.function_call_arguments.delta", at)
		send("response.function_call_arguments.done",
			object{"item_id": "fc_1", "output_index": 0, "name": r.tool, "arguments": arguments})
	}
	send("response.output_item.done", object{"output_index": 0, "item": item(r)})
	send("response.completed", object{"response": f.whole(r)})
	return events, true
}
