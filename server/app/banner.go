package app

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"hippocampus/forgetting"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/api"
	"hippocampus/server/config"
)

const (
	sampleTurn = `{"user_id":"ada","wait":true,` +
		`"messages":[{"role":"user","content":"I live in Lisbon and work as a marine biologist."}]}`
	sampleQuery = `{"user_id":"ada","query":"Where does Ada work?"}`
)

// effects describes, for people, what a server does while a part does not work.
var effects = map[string]string{
	"vector_store": "Writes are kept and reach it later; until then recall answers from the database.",
	"embedder": "Messages of turns are found by words, and facts are taken later; " +
		"until then other writes are refused.",
	"scorer":   "Turns are kept and processed later.",
	"router":   "Rules route queries until then.",
	"reranker": "Recall ranks without it until then.",
}

// printBanner prints the server's address, the parts in use, those that do not work,
// and how to try it. secret is that of an admin key which was just generated, or empty.
func printBanner(out io.Writer, cfg config.Config, use inUse, parts []api.Part, secret, addr string) {
	url := "http://" + addr
	var text strings.Builder
	fmt.Fprintf(&text, `Hippocampus is listening on %s

  database      %s
  vector store  %s
  embedder      %s
  scorer        %s
  router        %s
  forgetting    %s
`, url, use.database, use.vectors, use.embedder, use.scorer, use.router, forgettingOf(cfg))
	if use.metrics != "" {
		fmt.Fprintf(&text, "  metrics       http://%s/metrics, with /openapi.yaml\n", use.metrics)
	}
	printDegraded(&text, use, parts)
	auth, note := ` -H "Authorization: Bearer $HIPPOCAMPUS_KEY"`, ""
	switch {
	case cfg.Dev:
		auth, note = "", "Authentication is off (--dev): every request has the role operator.\n"
	case secret != "":
		auth = fmt.Sprintf(` -H "Authorization: Bearer %s"`, secret)
		note = fmt.Sprintf("Admin key, shown this once: %s\n", secret)
	case cfg.AdminKey != "":
		note = "The admin key is the one configured as admin_key (HIPPOCAMPUS_ADMIN_KEY).\n"
	default:
		note = "The admin key was printed at the first start; `hippocampus key create --role admin` creates another.\n"
	}
	fmt.Fprintf(&text, `
%s
Write:   curl -s %s/v1/turns%s -H 'Content-Type: application/json' -d '%s'
Recall:  curl -s %s/v1/recall%s -H 'Content-Type: application/json' -d '%s'
Docs:    %s/docs/

`, note, url, auth, sampleTurn, url, auth, sampleQuery, url)
	_, _ = io.WriteString(out, text.String())
}

// forgettingOf says when memories fade, for people.
func forgettingOf(cfg config.Config) string {
	rule := forgettingSettings(cfg).Rule
	plain := rule
	plain.ExcludeTypes, plain.ExcludeDomains = "", ""
	plain.KeepTypes = ""
	lasts, never := plain.Lifetime(memory.TypeFact, ingest.DefaultImportance)
	if never || cfg.Schedule.Forgetting == "" {
		return "off"
	}
	days := "days"
	if rule.Clock == forgetting.ActiveClock {
		days = "days on which its user is active"
	}
	text := fmt.Sprintf("a fact of importance %v that nothing recalls fades after %.0f %s", ingest.DefaultImportance,
		lasts.Hours()/24, days)
	if kept := forgetting.ListOf[memory.Type](rule.KeepTypes); len(kept) > 0 && rule.KeepImportance <= 1 {
		text += fmt.Sprintf("; from %v on never", rule.KeepImportance)
	}
	return text
}

// effect describes what this server does while a part does not work; it is empty for an unknown part.
func (u inUse) effect(part string) string {
	if part == "embedder" && u.standIn {
		return "The embedder named above serves until it answers; then memories are embedded again."
	}
	return effects[part]
}

// printDegraded prints which parts do not work, why, and what that means.
func printDegraded(text *strings.Builder, use inUse, parts []api.Part) {
	parts = slices.DeleteFunc(parts, func(p api.Part) bool { return p.Err == nil })
	if len(parts) == 0 {
		return
	}
	fmt.Fprint(text, "\nDegraded. These parts are tried again until they work; GET /readyz shows their state:\n")
	for _, p := range parts {
		fmt.Fprintf(text, "  %s is %s: %v\n", p.Name, p.Status(), p.Err)
		if effect := use.effect(p.Name); effect != "" {
			fmt.Fprintf(text, "    %s\n", effect)
		}
	}
}
