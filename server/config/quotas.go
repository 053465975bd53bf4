package config

import (
	"maps"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// AppQuotas are the quotas of the apps that have quotas of their own, by the app's name. A
// quota that is not set for an app has the value in Quotas.
type AppQuotas map[string]Quotas

const quotasOfApps = "quotas.apps."

// appQuota splits a key such as quotas.apps.NAME.users, whose NAME may hold dots, into
// the app and the setting quotas.users.
func appQuota(key string) (app string, of setting, ok bool) {
	rest, ok := strings.CutPrefix(key, quotasOfApps)
	end := strings.LastIndexByte(rest, '.')
	if !ok || end < 0 {
		return "", setting{}, false
	}
	of, ok = byKey["quotas"+rest[end:]]
	return rest[:end], of, ok && memory.CheckID(rest[:end], false) == ""
}

// setAppQuotas sets AppQuotas to the values of keys that appQuota knows.
func (c *Config) setAppQuotas(values map[string]any, sources map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		app, of, ok := appQuota(key)
		if !ok {
			continue
		}
		own, known := c.AppQuotas[app]
		if !known {
			own = c.Quotas
		}
		with := Config{Quotas: own}
		fits := of.set(&with, values[key]) && of.rule.fits(of.of(&with))
		of.key = key
		if !fits {
			return wrongValue(of, values[key], sources[key], of.rule.want)
		}
		if c.AppQuotas == nil {
			c.AppQuotas = AppQuotas{}
		}
		c.AppQuotas[app] = with.Quotas
	}
	return nil
}
