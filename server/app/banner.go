package app

import (
	"fmt"
	"io"
	"strings"

	"hippocampus/server/config"
)

// printBanner says where the server is, what it uses, and how to try it.
func printBanner(out io.Writer, cfg config.Config, s *server, addr string) {
	url := "http://" + addr
	var text strings.Builder
	fmt.Fprintf(&text, `Hippocampus is listening on %s

  database      %s
  vector store  %s
  embedder      %s
  scorer        %s
  router        %s
`, url, s.database, s.vectors, s.embedder, s.scorer, s.router)
	auth, note := ` -H "Authorization: Bearer $HIPPOCAMPUS_KEY"`, ""
	switch {
	case cfg.Dev:
		auth, note = "", "Authentication is off (--dev): every request is the admin's.\n"
	case s.secret != "":
		auth = fmt.Sprintf(` -H "Authorization: Bearer %s"`, s.secret)
		note = fmt.Sprintf("Admin key, shown this once: %s\n", s.secret)
	case cfg.AdminKey != "":
		note = "The admin key is the one configured as admin_key (HIPPOCAMPUS_ADMIN_KEY).\n"
	default:
		note = "The admin key was printed at the first start; `hippocampus key create --role admin` makes another.\n"
	}
	fmt.Fprintf(&text, `
%s
Write:   curl -s %s/v1/turns%s -H 'Content-Type: application/json' -d '{"user_id":"ada","wait":true,"messages":[{"role":"user","content":"I live in Lisbon and work as a marine biologist."}]}'
Recall:  curl -s %s/v1/recall%s -H 'Content-Type: application/json' -d '{"user_id":"ada","query":"Where does Ada work?"}'

`, note, url, auth, url, auth)
	_, _ = io.WriteString(out, text.String())
}
