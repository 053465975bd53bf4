package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones by name, also where the system has no table of them
	"unicode/utf8"

	"github.com/robfig/cron/v3"

	"hippocampus/internal/memory"
)

// rule states which values a setting may have.
type rule struct {
	want string // for people
	fits func(value reflect.Value) bool
}

// textRules are the rules of texts that are not a choice.
var textRules = map[string]rule{
	"address": textRule("HOST:PORT, such as 127.0.0.1:8080", isAddress),
	"optional address": textRule("HOST:PORT, such as 127.0.0.1:9090, or nothing: at the address of the API",
		optional(isAddress)),
	"folder": textRule("a folder, such as data", notEmpty),
	"key":    textRule("up to 256 visible ASCII characters without spaces, or nothing", isKey),
	"admin key": textRule("at least 16 and at most 256 visible ASCII characters without spaces, "+
		"such as the output of `openssl rand -hex 32`, or nothing: one is generated", optional(isAdminKey)),
	"database":     textRule("postgres://USER:PASSWORD@HOST:PORT/NAME, or nothing for SQLite", optional(isPostgresURL)),
	"host":         textRule("a host name or address without scheme and port, or nothing", isHost),
	"collection":   textRule("a letter or underscore, then up to 199 letters, digits or underscores", isCollection),
	"milvus user":  textRule("visible ASCII characters without spaces and colons, or nothing", isMilvusUser),
	"url":          textRule("an http:// or https:// URL, such as https://api.deepseek.com/v1", isHTTPURL),
	"optional url": textRule("an http:// or https:// URL, or nothing", optional(isHTTPURL)),
	"model":        textRule("the name of a model", notEmpty),
	"text":         textRule("valid UTF-8", utf8.ValidString),
	"schedule": textRule(`a cron expression in UTC, such as "0 3 * * *" or "@every 15m" (1s or more), or nothing: off`,
		optional(isSchedule)),
	"zone": textRule("the name of a time zone, such as Europe/Berlin or UTC", isZone),
	"ranking parts": listRule("words", "vectors", "neighbours", "second_neighbours", "speaker", "date", "when",
		"question", "lexical_floor", "contrast", "route"),
	"memory types": listRule(memoryTypes()...),
	"domains":      listRule(domains()...),
	"factors": textRule("names of types or domains with numbers from 0.01 to 100, such as task=0.5,general_chat=0.25, or "+
		"nothing", func(setting string) bool { return memory.Factors(setting).Check() == "" }),
	"origins": textRule("origins such as https://chat.example.com, separated by commas, or nothing",
		optional(areOrigins)),
	"addresses": textRule("addresses or networks such as 10.0.0.0/8, separated by commas, or nothing",
		optional(func(list string) bool { return NetworksOf(list) != nil })),
}

// memoryTypes are the names of types, and "none", since an empty variable of the environment is ignored.
func memoryTypes() []string {
	names := []string{"none"}
	for _, name := range memory.Types {
		names = append(names, string(name))
	}
	return names
}

func domains() []string {
	names := []string{"none"}
	for _, name := range memory.Domains {
		names = append(names, string(name))
	}
	return names
}

func textRule(want string, fits func(string) bool) rule {
	return rule{want, func(v reflect.Value) bool { return fits(v.String()) }}
}

// parseRule reads the rule tag of a field. It panics if the tag does not fit
// the field's type: that is an error in Config.
func parseRule(field reflect.StructField) rule {
	tag := field.Tag.Get("rule")
	named, known := textRules[tag]
	low, high, _ := strings.Cut(tag, "..")
	switch {
	case field.Type.Kind() == reflect.Bool:
		return rule{"true or false", func(reflect.Value) bool { return true }}
	case field.Type.Kind() != reflect.String:
		return rangeRule(field.Type, low, high)
	case known:
		return named
	case strings.Contains(tag, "|"):
		choice := strings.Split(tag, "|")
		last := len(choice) - 1
		return textRule(strings.Join(choice[:last], ", ")+" or "+choice[last], func(text string) bool {
			return slices.Contains(choice, text)
		})
	}
	panic(fmt.Sprintf("config: %s has the rule %q, which does not fit its type", field.Name, tag))
}

// listRule allows some of the names, separated by commas.
func listRule(names ...string) rule {
	want := "any of " + strings.Join(names, ", ") + ", separated by commas, or nothing"
	return textRule(want, optional(func(list string) bool {
		for name := range strings.SplitSeq(list, ",") {
			if !slices.Contains(names, name) {
				return false
			}
		}
		return true
	}))
}

// rangeRule allows numbers or durations from low to high.
func rangeRule(t reflect.Type, low, high string) rule {
	least, most := reflect.New(t).Elem(), reflect.New(t).Elem()
	if !assign(least, low) || !assign(most, high) {
		panic(fmt.Sprintf("config: %s..%s is not a range of %s", low, high, t))
	}
	what := "a whole number"
	switch {
	case t == durationType:
		what = "a duration with its unit,"
	case t.Kind() == reflect.Float64:
		what = "a number"
	}
	return rule{fmt.Sprintf("%s from %s to %s", what, low, high), func(v reflect.Value) bool {
		if v.CanFloat() {
			return least.Float() <= v.Float() && v.Float() <= most.Float() // false for NaN
		}
		return least.Int() <= v.Int() && v.Int() <= most.Int()
	}}
}

func matches(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

func optional(fits func(string) bool) func(string) bool {
	return func(text string) bool { return text == "" || fits(text) }
}

var (
	isAdminKey    = matches(`^[!-~]{16,256}$`)
	isKey         = matches(`^[!-~]{0,256}$`)
	isHost        = matches(`^[A-Za-z0-9._:-]*$`)
	isMilvusUser  = matches(`^[!-9;-~]*$`)
	isCollection  = matches(`^[A-Za-z_][A-Za-z0-9_]{0,199}$`)
	notEmpty      = matches(`\S`)
	isHTTPURL     = isURL("http", "https")
	isPostgresURL = isURL("postgres", "postgresql")
)

func isURL(schemes ...string) func(string) bool {
	return func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && slices.Contains(schemes, u.Scheme) && (u.Host != "" || u.Query().Has("host"))
	}
}

// areOrigins accepts what browsers send as Origin, without wildcards.
func areOrigins(list string) bool {
	for origin := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(origin)
		if err != nil || !isHTTPURL(origin) || strings.Contains(origin, "*") ||
			origin != u.Scheme+"://"+strings.ToLower(u.Host) {
			return false
		}
	}
	return true
}

// NetworksOf reads addresses and networks that are separated by commas; nil if one is neither, or without any.
func NetworksOf(list string) (networks []netip.Prefix) {
	for entry := range strings.SplitSeq(list, ",") {
		network, err := netip.ParsePrefix(entry)
		if address, single := netip.ParseAddr(entry); single == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil
		}
		networks = append(networks, network.Masked())
	}
	return networks
}

func isZone(s string) bool {
	_, err := time.LoadLocation(s)
	return err == nil && s != "" && s != "Local"
}

// isSchedule refuses some expressions that the cron library accepts: time zones, intervals
// under a second and days that do not exist.
func isSchedule(text string) bool {
	expression := strings.TrimSpace(text)
	if strings.Contains(expression, "=") { // TZ=
		return false
	}
	if pace, ok := strings.CutPrefix(expression, "@every "); ok {
		d, err := time.ParseDuration(pace)
		return err == nil && d >= time.Second
	}
	s, err := cron.ParseStandard(expression)
	return err == nil && !s.Next(time.Unix(0, 0).UTC()).IsZero()
}

func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || !isHost(host) {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && IsLoopback(host)
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// validate checks each setting and the conditions between settings. The error,
// of KindInvalid, names the first wrong setting with its source.
func (c Config) validate(sources map[string]string) (faults []error) {
	for _, s := range settings {
		if value := s.of(&c); !s.rule.fits(value) {
			faults = append(faults, wrongValue(s, value.Interface(), sources[s.key], s.rule.want))
		}
	}
	if len(faults) > 0 {
		return faults // the conditions may depend on the faulty settings
	}
	for _, m := range c.conditions() {
		if !m.holds {
			s := byKey[m.key]
			faults = append(faults, wrongValue(s, s.of(&c).Interface(), sources[s.key], m.want))
		}
	}
	return faults
}

// condition is a condition between several settings; key is the setting to correct.
type condition struct {
	holds bool
	key   string
	want  string
}

// MaxRetryWait is the longest wait that a model's Retry-After can ask for.
const MaxRetryWait = 20 * time.Second

func (c Config) conditions() []condition {
	scoring := time.Duration(c.Chat.Retries+1)*c.Chat.Timeout + time.Duration(c.Chat.Retries)*MaxRetryWait
	models := scoring + c.Chat.Timeout // which also bounds the judge
	return slices.Concat(c.Milvus.conditions(), []condition{
		{!c.Dev || isLoopback(c.Listen), "dev",
			"false, or listen on loopback such as 127.0.0.1:8080: dev turns authentication off"},
		{c.Vectors != "pgvector" || c.Database.URL != "", "vectors",
			"auto, or set database.url: pgvector keeps the vectors in that Postgres"},
		{c.Recall.Relevance+c.Recall.Decay+c.Recall.Importance > 0, "recall.relevance",
			"more than 0, here or in recall.decay or recall.importance"},
		{models < c.Jobs.Timeout, "jobs.timeout", fmt.Sprintf("more than %s, which the scorer and the judge may take "+
			"(chat.timeout, chat.retries)", models)},
	})
}

func (m Milvus) conditions() []condition {
	given := 0
	for _, credential := range []string{m.User, m.Token, m.APIKey} {
		if credential != "" {
			given++
		}
	}
	t := m.TLS
	return []condition{
		{(m.User == "") == (m.Password == ""), "milvus.password",
			"milvus.user and milvus.password, or nothing for both"},
		{given <= 1, "milvus.user", "one of milvus.user with milvus.password, milvus.token and milvus.api_key"},
		{m.APIKey == "" || t.Enabled, "milvus.tls.enabled", "true, since milvus.api_key is only sent over TLS"},
		{t.Enabled || t == TLS{}, "milvus.tls.enabled", "true, or nothing for the other settings of milvus.tls"},
		{(t.CertFile == "") == (t.KeyFile == ""), "milvus.tls.key_file",
			"milvus.tls.cert_file and milvus.tls.key_file, or nothing for both"},
	}
}
