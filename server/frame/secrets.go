package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
)

// saying are the fields that hold what people and models say. Other fields name things, and stay unchanged.
var saying = map[string]bool{
	"content": true, "query": true, "previous": true, "present": true, "title": true, "tags": true, "metadata": true,
	"value": true, "note": true, "workflow": true, "refusal": true, "reasoning_content": true, "tool_calls": true,
	"function_call": true, "annotations": true, "file_text": true, "old_str": true, "new_str": true, "insert_text": true,
	"episode": true, // also an id, which no secret looks like
	"text":    true, // in the protocols of mounts
}

// maxWord is more characters than a word or a secret without a space has: longer ones are encoded files.
const maxWord = 4096

// cutter finds the secrets in what a body says.
type cutter struct {
	place []step                      // of the value that is read
	texts map[jsontext.Pointer]string // that replace texts with secrets, by their places
	found []CutSecret
}

// step leads from a value of JSON to a value within it: by name, or else by index.
type step struct {
	name  string
	index int
}

// cutSecrets cuts the secrets out of what the body says, before anything else reads it. value is the decoded body;
// cutSecrets returns it without the secrets.
func (r *Request) cutSecrets(value map[string]any) (map[string]any, *memory.Field) {
	c := cutter{texts: map[jsontext.Pointer]string{}}
	c.object(value, false)
	if len(c.texts) == 0 {
		return value, nil
	}
	r.Altered.Secrets = c.found
	r.Body = replaced(r.Body, c.texts)
	return parseObject(r.Body)
}

func (c *cutter) object(object map[string]any, says bool) {
	key, _ := object["key"].(string) // of a timeline, which names its value
	for _, name := range slices.Sorted(maps.Keys(object)) {
		naming := ""
		switch {
		case says:
			naming = name
		case name == "value":
			naming = key
		}
		c.within(step{name: name}, object[name], naming, says || saying[name])
	}
}

// within reads a value inside the present one. naming is a name that may show that the value is a secret.
func (c *cutter) within(s step, value any, naming string, says bool) {
	c.place = append(c.place, s)
	switch v := value.(type) {
	case map[string]any:
		c.object(v, says)
	case []any:
		for i, item := range v {
			c.within(step{index: i}, item, naming, says)
		}
	case string:
		if says && (len(v) <= maxWord || strings.ContainsAny(v[:maxWord], " \n，。")) {
			cleaned, kinds := secret.CutNamed(naming, v)
			c.note(cleaned, kinds)
		}
	case float64:
		if says && naming != "" {
			cleaned, kinds := secret.CutNamed(naming, strconv.FormatFloat(v, 'f', -1, 64))
			c.note(cleaned, kinds)
		}
	}
	c.place = c.place[:len(c.place)-1]
}

// note records the rest of the text at the present place, if something was cut out.
func (c *cutter) note(cleaned string, kinds []string) {
	if kinds == nil {
		return
	}
	var at jsontext.Pointer
	for _, s := range c.place {
		if s.name == "" {
			at = at.AppendToken(strconv.Itoa(s.index))
		} else {
			at = at.AppendToken(s.name)
		}
	}
	c.texts[at] = cleaned
	path := pathOf(c.place)
	for _, kind := range kinds {
		c.found = append(c.found, CutSecret{Kind: kind, Path: path})
	}
}

// pathOf returns the path of a place in a body, such as messages[0].content.
func pathOf(place []step) (path string) {
	for _, s := range place {
		if s.name == "" {
			path += fmt.Sprintf("[%d]", s.index)
		} else {
			path = joinPath(path, clip(s.name))
		}
	}
	return path
}

// replaced returns a JSON text in which texts replaces the texts at some places. Everything else keeps its order.
func replaced(body []byte, texts map[jsontext.Pointer]string) []byte {
	in, out := jsontext.NewDecoder(bytes.NewReader(body)), new(bytes.Buffer)
	encoder := jsontext.NewEncoder(out)
	for {
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes())
		}
		if err != nil {
			return body // the body was parsed before
		}
		parent, length := in.StackIndex(in.StackDepth())
		isName := parent == '{' && length%2 == 1
		if text, cut := texts[in.StackPointer()]; cut && !isName && (token.Kind() == '"' || token.Kind() == '0') {
			token = jsontext.String(text)
		}
		if err := encoder.WriteToken(token); err != nil {
			return body
		}
	}
}

// AlteredIn returns what was altered in an item of the body, such as memories[2], with the paths in it.
func (r *Request) AlteredIn(item string) (in Altered) {
	for _, s := range r.Altered.Secrets {
		if path, ok := strings.CutPrefix(s.Path, item+"."); ok {
			in.Secrets = append(in.Secrets, CutSecret{s.Kind, path})
		}
	}
	for _, c := range r.Altered.Cleaned {
		if path, ok := strings.CutPrefix(c.Path, item+"."); ok {
			in.Cleaned = append(in.Cleaned, CleanedText{path, c.Count})
		}
	}
	return in
}
