package config

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// rule is what a setting may be.
type rule struct {
	want string // for people
	fits func(value any) bool
}

var (
	anyText   = rule{"valid UTF-8", func(v any) bool { return strings.ToValidUTF8(v.(string), "") == v }}
	modelName = rule{"the name of a model", notEmpty}
	schedule  = rule{`a cron expression in UTC, such as "0 3 * * *" or "@every 15m" (1s or more), or nothing: off`, optional(isSchedule)}
	endpoint  = rule{"an http:// or https:// URL, such as https://api.deepseek.com/v1", isURL("http", "https")}
)

// want says for people what a setting may be.
func (s setting) want() string {
	if r, ok := rules[s.key]; ok {
		return r.want
	}
	return "true or false"
}

func oneOf(values ...string) rule {
	return rule{strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1],
		func(v any) bool { return slices.Contains(values, v.(string)) }}
}

func whole(low, high int64) rule {
	return rule{fmt.Sprintf("a whole number from %d to %d", low, high), func(v any) bool {
		n, isInt := v.(int)
		wide := int64(n)
		if !isInt {
			wide = v.(int64)
		}
		return low <= wide && wide <= high
	}}
}

func decimal(low, high float64) rule {
	return rule{fmt.Sprintf("a number from %v to %v", low, high),
		func(v any) bool { f := v.(float64); return !math.IsNaN(f) && low <= f && f <= high }}
}

func between(low, high time.Duration) rule {
	return rule{fmt.Sprintf("a duration with its unit, from %s to %s", short(low), short(high)),
		func(v any) bool { d := v.(time.Duration); return low <= d && d <= high }}
}

// short is a duration without its trailing zero parts: 24h, not 24h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func matches(pattern string) func(any) bool {
	expression := regexp.MustCompile(pattern)
	return func(v any) bool { return expression.MatchString(v.(string)) }
}

func optional(fits func(any) bool) func(any) bool {
	return func(v any) bool { return v == "" || fits(v) }
}

var (
	isKey    = matches(`^[!-~]{0,256}$`)
	isHost   = matches(`^[A-Za-z0-9._:-]*$`)
	notEmpty = matches(`\S`)
)

func isURL(schemes ...string) func(any) bool {
	return func(v any) bool {
		u, err := url.Parse(v.(string))
		return err == nil && slices.Contains(schemes, u.Scheme) && (u.Host != "" || u.Query().Has("host"))
	}
}

// isSchedule refuses what cron would take for another zone, another pace, or
// a day that never comes.
func isSchedule(v any) bool {
	expression := strings.TrimSpace(v.(string))
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

func isAddress(v any) bool {
	host, port, err := net.SplitHostPort(v.(string))
	if err != nil || !isHost(host) {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n <= 65535
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
