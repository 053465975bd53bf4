package llm

import (
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// Items is a list in an answer. Decode reads it item by item, so that an item of the
// wrong form fails alone. It reads a single item as a list of one, and null as an empty list. A nil list was missing.
type Items[T any] []Item[T]

// Item is one item of a list.
type Item[T any] struct {
	Value T
	Err   error  // why Value could not be read, or nil
	Raw   string // the item as the model wrote it
}

func (Items[T]) isItems() {}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. If the decoder refuses unknown fields, an invalid item is an error
// of the whole list, so that Decode then reads tolerantly.
func (l *Items[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	if value.Kind() == 'n' {
		*l = Items[T]{}
		return nil
	}
	strict, _ := json.GetOption(d.Options(), json.RejectUnknownMembers)
	raw := []jsontext.Value{value}
	if strict || value.Kind() == '[' {
		if err := json.Unmarshal(value, &raw, invalidUTF8); err != nil {
			return err
		}
	}
	*l = make(Items[T], len(raw))
	for i, one := range raw {
		item := &(*l)[i]
		item.Raw = string(one)
		if err := json.Unmarshal(one, &item.Value, d.Options()); err != nil && strict {
			return err
		} else if err != nil {
			item.Err = BadAnswer("does not fit: %w", plain(err))
		}
	}
	return nil
}

// standardise removes comments and trailing commas.
func standardise(value []byte) (jsontext.Value, error) {
	standard, err := hujson.Standardize(value)
	if err != nil {
		return nil, BadAnswer("the answer's JSON is malformed: %.120s", err)
	}
	return standard, nil
}

// asObject returns the object that the struct behind into expects. The answer may have it within an object with one
// field, or within a list of one. If that struct has one field of type Items, a list, or an object without any field of
// the struct, becomes that field's value.
func asObject(value jsontext.Value, into any) (jsontext.Value, error) {
	names, list := fieldNames(into)
	var members map[string]jsontext.Value
	var elements []jsontext.Value
	switch {
	case value.Kind() == '{':
		if err := json.Unmarshal(value, &members, invalidUTF8); err != nil {
			return nil, BadAnswer("the answer does not fit: %w", plain(err))
		}
		if inner := unwrapped(members, names); inner != nil {
			return inner, nil
		}
		if list == "" || len(members) == 0 || namesAny(members, names) {
			return value, nil
		}
	case json.Unmarshal(value, &elements, invalidUTF8) != nil:
	case len(elements) == 1:
		if hasAny(elements[0], names) {
			return elements[0], nil
		}
	case slices.ContainsFunc(elements, func(one jsontext.Value) bool { return hasAny(one, names) }):
		return nil, errSeveral
	}
	if list == "" {
		return nil, BadAnswer("the answer is a list: give one JSON object")
	}
	return json.Marshal(map[string]jsontext.Value{list: value}, invalidUTF8)
}

var invalidUTF8 = jsontext.AllowInvalidUTF8(true)

// unwrapped returns the only member of an object if the member is an object with one of the names, else nil.
func unwrapped(members map[string]jsontext.Value, names []string) jsontext.Value {
	for _, inner := range members {
		if len(members) == 1 && !namesAny(members, names) && hasAny(inner, names) {
			return inner
		}
	}
	return nil
}

// hasAny reports whether a value is an object with one of the names, in any case.
func hasAny(value jsontext.Value, names []string) bool {
	var members map[string]jsontext.Value
	return value.Kind() == '{' && json.Unmarshal(value, &members, invalidUTF8) == nil && namesAny(members, names)
}

// fieldNames returns the JSON names of a struct, and the name of its field of type Items; "" if
// it has no such list or several.
func fieldNames(into any) (names []string, list string) {
	lists := 0
	t := reflect.TypeOf(into).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
		if t.Field(i).Type.Implements(reflect.TypeFor[interface{ isItems() }]()) {
			list = name
			lists++
		}
	}
	if lists != 1 {
		list = ""
	}
	return names, list
}

// namesAny reports whether an object has one of the names, in any case.
func namesAny(members map[string]jsontext.Value, names []string) bool {
	for member := range members {
		for _, name := range names {
			if strings.EqualFold(member, name) {
				return true
			}
		}
	}
	return false
}
