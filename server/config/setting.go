package config

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one leaf of Config.
type setting struct {
	key      string // "recall.limit"
	index    []int  // path from Config
	standard string // its default
	rule     rule
}

// settings lists every leaf of Config, in the order of its fields.
var settings = leaves(reflect.TypeFor[Config](), "", nil)

// keys lists the key of every setting, in the order of the example file.
var keys = func() []string {
	all := make([]string, len(settings))
	for i, s := range settings {
		all[i] = s.key
	}
	return all
}()

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
		if field.Tag.Get("koanf") == "" {
			continue // it is set otherwise: see Load
		}
		key, index := prefix+field.Tag.Get("koanf"), slices.Concat(path, field.Index)
		if field.Type.Kind() == reflect.Struct {
			found = append(found, leaves(field.Type, key+".", index)...)
			continue
		}
		found = append(found, setting{
			key: key, index: index, standard: field.Tag.Get("default"), rule: parseRule(field),
		})
	}
	return found
}

// Default configures a server on loopback that needs no other service: SQLite,
// rules and the built-in embedder.
func Default() Config {
	var c Config
	for _, s := range settings {
		if !s.set(&c, s.standard) {
			panic("config: the default of " + s.key + " does not fit its type")
		}
	}
	return c
}

// firstOf returns the first setting of a section, or "" if there is no such section.
func firstOf(section string) string {
	for _, key := range keys {
		if strings.HasPrefix(key, section+".") {
			return key
		}
	}
	return ""
}

func (s setting) of(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.index)
}

// secret reports whether the value must not be shown.
func (s setting) secret() bool {
	return slices.ContainsFunc([]string{"_key", "password", "token"}, func(end string) bool {
		return strings.HasSuffix(s.key, end)
	})
}

// show formats a value for people and hides keys and the passwords of URLs.
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
		isDSN := err == nil && u.Host == "" && strings.Contains(text, "=") // host=... password=...
		if err != nil || isDSN || u.User == nil && strings.Contains(text, "@") {
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

// set stores a value in c and reports whether its type fits.
func (s setting) set(c *Config, value any) bool { return assign(s.of(c), value) }

var durationType = reflect.TypeFor[time.Duration]()

// assign stores a value in a field and reports whether its type fits. The value has its
// type in YAML, or is text from another source.
func assign(field reflect.Value, value any) bool {
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
	panic("config: a setting cannot have the type " + field.Type().String())
}

// number returns the text of a numeric value.
func number(value any) string {
	if f, ok := value.(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

// String lists every setting, one per line, without secrets.
func (c Config) String() string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, "%s: %s\n", s.key, s.show(s.of(&c).Interface()))
	}
	for _, app := range slices.Sorted(maps.Keys(c.AppQuotas)) {
		own := Config{Quotas: c.AppQuotas[app]}
		for _, s := range settings {
			if name, ok := strings.CutPrefix(s.key, "quotas."); ok {
				fmt.Fprintf(&b, "%s%s.%s: %s\n", quotasOfApps, app, name, s.show(s.of(&own).Interface()))
			}
		}
	}
	return b.String()
}

// GoString also hides secrets from %#v.
func (c Config) GoString() string { return c.String() }
