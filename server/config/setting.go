package config

import (
	"fmt"
	"iter"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// setting is one leaf of Config.
type setting struct {
	key   string // "recall.limit"
	index []int  // reflect path from Config
}

// settings lists every leaf of Config, in the order of its fields.
var settings = leaves(reflect.TypeFor[Config](), "", nil)

// byKey finds a setting by its key.
var byKey = func() map[string]setting {
	known := make(map[string]setting, len(settings))
	for _, s := range settings {
		known[s.key] = s
	}
	return known
}()

func leaves(t reflect.Type, prefix string, path []int) []setting {
	var found []setting
	for i := range t.NumField() {
		field := t.Field(i)
		key, index := prefix+field.Tag.Get("koanf"), append(path[:len(path):len(path)], i)
		if field.Type.Kind() == reflect.Struct {
			found = append(found, leaves(field.Type, key+".", index)...)
		} else {
			found = append(found, setting{key, index})
		}
	}
	return found
}

// Keys yields the key of every setting, in the order of the example file.
func Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range settings {
			if !yield(s.key) {
				return
			}
		}
	}
}

// firstOf is the first setting of a section, or "" when there is no such section.
func firstOf(section string) string {
	for key := range Keys() {
		if strings.HasPrefix(key, section+".") {
			return key
		}
	}
	return ""
}

func (s setting) of(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.index)
}

// secret reports whether the value must never be shown.
func (s setting) secret() bool { return strings.HasSuffix(s.key, "_key") }

// text is the setting's value in c as it may be shown.
func (s setting) text(c *Config) string { return s.show(s.of(c).Interface()) }

// show is a value as it may be shown: keys and the passwords of URLs are hidden.
func (s setting) show(value any) string {
	text, isText := value.(string)
	isURL := strings.HasSuffix(s.key, "url")
	switch {
	case text == "" && isText:
		return `""`
	case s.secret(), isURL && !isText:
		return "(hidden)"
	case !isText:
		return fmt.Sprint(value)
	case isURL:
		u, err := url.Parse(text)
		if err != nil || u.User == nil && strings.Contains(text, "@") {
			return "(hidden)"
		}
		if u.RawQuery != "" {
			u.RawQuery = hidePasswords(u.Query())
		}
		text = u.Redacted()
	}
	return strconv.Quote(text)
}

func hidePasswords(query url.Values) string {
	for name := range query {
		if strings.Contains(name, "password") || strings.Contains(name, "key") {
			query.Set(name, "xxxxx")
		}
	}
	return query.Encode()
}

var durationType = reflect.TypeFor[time.Duration]()

// set puts a value from a source into c: what YAML made of it, or text from
// the environment or the command line. It reports whether the type fits.
func (s setting) set(c *Config, value any) bool {
	field := s.of(c)
	text, isText := value.(string)
	switch {
	case field.Kind() == reflect.String:
		field.SetString(text)
		return isText
	case field.Kind() == reflect.Bool:
		b, isBool := value.(bool)
		field.SetBool(b || text == "true")
		return isBool || text == "true" || text == "false"
	case field.Kind() == reflect.Float64:
		f, err := strconv.ParseFloat(number(value), 64)
		field.SetFloat(f)
		return err == nil
	case field.Type() == durationType:
		d, err := time.ParseDuration(text)
		field.SetInt(int64(d))
		return err == nil
	case field.CanInt():
		n, err := strconv.ParseInt(number(value), 10, 64)
		field.SetInt(n)
		return err == nil
	}
	panic("config: " + s.key + " is of a type that cannot be set: " + field.Type().String())
}

// number is the text of a numeric value, or of text that may be one.
func number(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

// String lists every setting, one a line, without its secrets.
func (c Config) String() string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, "%s: %s\n", s.key, s.text(&c))
	}
	return b.String()
}

// GoString hides secrets from %#v too.
func (c Config) GoString() string { return c.String() }
