package memories

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/connection"
	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
)

// DocumentCommands returns the commands that concern documents.
func DocumentCommands(sources connection.Sources) []*cobra.Command {
	p := program{sources}
	return []*cobra.Command{p.addDocument(), p.listDocuments(), p.showDocument(), p.deleteDocument()}
}

// document is a document as the server answers it.
type document struct {
	ID, Title, URL     string
	ClientID           string `json:"client_id"`
	Version            int
	Count              int       `json:"passage_count"`
	ChangedAt          time.Time `json:"changed_at"`
	Added, Kept        int
	Forgotten, LeftOut int
	Changed            int
	Passages           []struct{ Content, Status string }
}

// name is what commands call a document.
func (d document) name() string {
	if d.ClientID != "" {
		return d.ClientID
	}
	return d.ID
}

// formats are the content types of files by the endings of their names.
var formats = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown", ".html": "text/html", ".htm": "text/html",
}

func (p program) addDocument() *cobra.Command {
	request := map[string]*string{}
	cmd := &cobra.Command{
		Use:   "add FILE",
		Short: "Add a text, Markdown or HTML file, or its new version",
		Long: `Add a text, Markdown or HTML file, or its new version. "-" is standard input. The ending of the name decides
how the file is read, unless --type does. A document with the same --id, which is the name of the file by default, is
replaced: passages that both versions have stay.`,
		Example: `  hippocampus document add handbook.md --user ada
  hippocampus document add - --user ada --id notes --title "My notes" < handbook.md`,
		Annotations: map[string]string{Routes: "POST /v1/documents"},
		Args:        cobra.ExactArgs(1),
	}
	for name, usage := range map[string]string{
		"id": "the `id` that names the document", "title": "its title, a `text`", "source": "where it is from, a `URL`",
		"type":  "text/plain, text/markdown or text/html: the content `type`",
		"agent": "the only `agent` that sees it",
	} {
		request[name] = cmd.Flags().String(name, "", usage)
	}
	return p.command(cmd, options{user: true, makes: true}, func(a *action, args []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		content, err := readFile(a.cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		body := map[string]any{"user_id": user, "content": content}
		if args[0] != "-" {
			body["id"] = filepath.Base(args[0])
		}
		if format := formats[strings.ToLower(filepath.Ext(args[0]))]; format != "" {
			body["content_type"] = format
		}
		for flag, field := range map[string]string{
			"id": "id", "title": "title", "source": "url", "type": "content_type", "agent": "agent_id",
		} {
			if value := *request[flag]; value != "" {
				body[field] = value
			}
		}
		var d document
		if err := a.call("POST", "/v1/documents", body, &d); err != nil || a.json {
			return err
		}
		a.Printf("%s is version %d, of %d passages: %d new, %d as before, %d forgotten\n",
			a.Paint(terminal.Bold, terminal.Line(d.name())), d.Version, d.Count, d.Added, d.Kept, d.Forgotten)
		return nil
	})
}

// readFile reads a file, or standard input for "-".
func readFile(in io.Reader, name string) (string, error) {
	read := func() ([]byte, error) { return os.ReadFile(name) }
	if name == "-" {
		read = func() ([]byte, error) { return io.ReadAll(in) }
	}
	content, err := read()
	if err != nil {
		return "", exit.Usagef("%v", err)
	}
	return string(content), nil
}

// documents reads the documents of the user.
func (a *action) documents() (list []document, err error) {
	user, err := a.NeedUser()
	if err != nil {
		return nil, err
	}
	err = a.pages("/v1/documents", url.Values{"user_id": {user}}, "documents", 0, func(raw json.RawMessage) error {
		var d document
		err := a.decode(raw, &d)
		list = append(list, d)
		return err
	})
	return list, err
}

func (p program) listDocuments() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List the documents of a user, newest first",
		Example:     "  hippocampus document list --user ada",
		Annotations: map[string]string{Routes: "GET /v1/documents"},
		Args:        cobra.NoArgs,
	}
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		list, err := a.documents()
		if err != nil || a.json {
			return err
		}
		for _, d := range list {
			a.Printf("%s  version %d, %d passages, %s  %s\n", a.Paint(terminal.Bold, terminal.Line(d.name())), d.Version,
				d.Count, a.When(d.ChangedAt), terminal.Line(strings.TrimSpace(d.Title+" "+d.URL)))
		}
		return nil
	})
}

// find returns the path of the document that a client's id, or the whole or the end of an id names.
func (a *action) find(name string) (path string, err error) {
	list, err := a.silent().documents()
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(list, func(d document) bool { return d.ClientID == name || strings.HasSuffix(d.ID, name) })
	if at < 0 {
		return "", exit.Usagef("the user has no document %q: see `hippocampus document list`", name)
	}
	return "/v1/documents/" + list[at].ID, nil
}

func (p program) showDocument() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "show NAME",
		Short:       "Show the passages of a document, named by its id",
		Example:     "  hippocampus document show notes --user ada",
		Annotations: map[string]string{Routes: "GET /v1/documents\nGET /v1/documents/{id}"},
		Args:        cobra.ExactArgs(1),
	}
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		path, err := a.find(args[0])
		if err != nil {
			return err
		}
		var d document
		if err := a.call("GET", path, nil, &d); err != nil || a.json {
			return err
		}
		for _, passage := range d.Passages {
			mark := ""
			if passage.Status != "active" {
				mark = fmt.Sprintf(" (%s)", passage.Status)
			}
			a.Printf("%s%s\n\n", terminal.Text(passage.Content), mark)
		}
		return nil
	})
}

func (p program) deleteDocument() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "delete NAME",
		Short:       "Forget a document with its passages, named by its id",
		Example:     "  hippocampus document delete handbook.md --user ada",
		Annotations: map[string]string{Routes: "GET /v1/documents\nDELETE /v1/documents/{id}"},
		Args:        cobra.ExactArgs(1),
	}
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		path, err := a.find(args[0])
		if err != nil {
			return err
		}
		var d document
		if err := a.call("DELETE", path, nil, &d); err != nil || a.json {
			return err
		}
		a.Printf("%d passages are forgotten; POST %s/restore brings them back\n", d.Changed, path)
		return nil
	})
}
