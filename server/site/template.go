package site

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"path"
	"strings"

	"hippocampus/server/static"
)

//go:embed assets
var assets embed.FS

// pageTemplate puts the content of a page into assets/page.html.
type pageTemplate struct {
	template *template.Template
	pages    map[string]*page
	assets   map[string]string            // addresses from the top folder
	sections map[string][]section         // by language
	texts    map[string]map[string]string // of the frame, by language
}

// lists are the lists of pages, by language.
var lists = map[string]string{"en": "README.md", "zh-CN": "zh/README.md"}

// parseTemplate reads the template, and adds the style sheet, the script and the index of the search to the files.
func parseTemplate(files map[string]static.File, pages map[string]*page) (*pageTemplate, error) {
	t := &pageTemplate{
		pages: pages, assets: map[string]string{}, sections: map[string][]section{}, texts: map[string]map[string]string{},
	}
	var err error
	t.template, err = template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, fmt.Errorf("reading the template of the documentation: %w", err)
	}
	for language, list := range lists {
		t.sections[language] = navigation(pages, list)
	}
	index, err := searchIndex(pages, t.sections)
	if err != nil {
		return nil, err
	}
	style, err := assets.ReadFile("assets/site.css")
	if err != nil {
		return nil, fmt.Errorf("reading the style sheet of the documentation: %w", err)
	}
	script, err := assets.ReadFile("assets/site.js")
	if err != nil {
		return nil, fmt.Errorf("reading the script of the documentation: %w", err)
	}
	for name, content := range map[string][]byte{"site.css": style, "site.js": script, "search.json": index} {
		file := static.New(name, content)
		files[name], t.assets[name] = file, name+"?"+file.Hash()
	}
	texts, err := assets.ReadFile("assets/texts.json")
	if err != nil {
		return nil, fmt.Errorf("reading the texts of the documentation: %w", err)
	}
	if err := json.Unmarshal(texts, &t.texts); err != nil {
		return nil, fmt.Errorf("reading the texts of the documentation: %w", err)
	}
	return t, nil
}

// execute returns the whole page.
func (t *pageTemplate) execute(p *page, content template.HTML) ([]byte, error) {
	language := p.language()
	sections := t.sections[language]
	data := struct {
		Title, Language, Root, Path     string
		Style, Script, Search           string
		Text                            map[string]string
		Sections                        []section
		Headings                        []heading
		Content                         template.HTML
		Previous, Next                  *entry
		Other, OtherLanguage, OtherName string
	}{
		Title: p.title, Language: language, Root: p.root(), Path: p.path,
		Style: p.root() + t.assets["site.css"], Script: p.root() + t.assets["site.js"],
		Search: p.root() + t.assets["search.json"],
		Text:   t.texts[language], Sections: sections, Content: content,
	}
	for _, h := range p.headings {
		if h.Level == 2 {
			data.Headings = append(data.Headings, h)
		}
	}
	order := flat(sections)
	for i := range order {
		if order[i].Path != p.path {
			continue
		}
		if i > 0 {
			data.Previous = &order[i-1]
		}
		if i+1 < len(order) {
			data.Next = &order[i+1]
		}
	}
	data.Other, data.OtherLanguage, data.OtherName = t.translation(p)
	var out bytes.Buffer
	if err := t.template.Execute(&out, data); err != nil {
		return nil, fmt.Errorf("rendering %s: %w", p.name, err)
	}
	return out.Bytes(), nil
}

// translation returns the page in the other language, or the list of pages in that language.
func (t *pageTemplate) translation(p *page) (address, language, name string) {
	other := path.Join("zh", p.name)
	language, name = "zh-CN", "中文"
	if p.language() != "en" {
		other = strings.TrimPrefix(p.name, "zh/")
		language, name = "en", "English"
	}
	if t.pages[other] == nil {
		other = lists[language]
	}
	return p.root() + pathOf(other), language, name
}
