package evolution

import (
	"context"
	"embed"
	"slices"
	"strings"

	"hippocampus/db"
	"hippocampus/internal/grounding"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

//go:embed prompts
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "evolve")

// The bounds of skills.
const (
	minOutcomes  = 3 // of a workflow that fails, and new ones until the skill is looked at again
	minSuccesses = 2 // of a workflow that is proposed in its place
	maxSkills    = 3 // of a user that one run asks the chat model about
	maxSteps     = 10
	maxStep      = 500 // characters
)

// skill is a skill with a workflow that fails more often than it succeeds.
type skill struct {
	name          string
	outcomes      int64             // of all workflows
	workflows     []memory.Workflow // those that all agents share, the best first
	worst, better *memory.Workflow  // better is nil if no other one is proven
}

// failing returns the skills of the user that have a failing workflow.
func (d *drafting) failing(ctx context.Context) (found []skill, err error) {
	list, err := d.Records.ListSkills(ctx, db.SkillFilter{Owner: d.owner, Limit: memory.MaxPage})
	for _, k := range list {
		if err != nil || k.Failures <= minOutcomes/2 {
			continue
		}
		of := skill{name: k.Name}
		filter := db.SkillFilter{Owner: d.owner, Limit: memory.MaxWorkflows}
		of.workflows, err = d.Records.Workflows(ctx, filter, k.Name)
		of.workflows = slices.DeleteFunc(of.workflows, func(w memory.Workflow) bool { return w.AgentID != "" })
		for i := range of.workflows {
			w := &of.workflows[i]
			of.outcomes += int64(w.Successes + w.Failures)
			switch {
			case w.Failures > w.Successes && w.Failures+w.Successes >= minOutcomes:
				of.worst = w
			case of.better == nil && w.Successes >= minSuccesses && w.Successes > w.Failures:
				of.better = w
			}
		}
		if of.worst != nil {
			found = append(found, of)
		}
	}
	return found, err
}

// instruct drafts the instruction of each failing skill with enough new evidence. Where the model's answer is refused
// and no rule applies, a decided draft without text keeps the model from being asked again.
func (d *drafting) instruct(ctx context.Context, failing []skill) error {
	for _, k := range failing {
		name := memory.SkillInstruction(k.name)
		if k.isTold(d.active) || slices.ContainsFunc(d.known, func(p db.ProposedInsight) bool {
			return p.Instruction == name && (!p.Decided || k.outcomes < p.Basis+minOutcomes)
		}) {
			continue
		}
		p := db.ProposedInsight{
			Instruction: name, Domain: memory.GeneralChat, Importance: k.workflows[0].Importance(), Basis: k.outcomes,
		}
		var err error
		if d.Chat != nil && d.asked < maxSkills {
			d.asked++
			p.Grounds, err = Try(ctx, d.Chat, k.workflows)
		}
		if err != nil && !memory.IsKind(err, memory.KindBadAnswer) {
			return err
		}
		if len(p.Grounds) == 0 && k.better != nil {
			p.Grounds = k.byRule()
		}
		if p.Decided = len(p.Grounds) == 0; p.Decided && err == nil {
			continue
		}
		lines := make([]string, len(p.Grounds))
		for i, g := range p.Grounds {
			lines[i] = g.Line
		}
		p.Content = strings.Join(lines, "\n")
		if err := d.add(ctx, k.workflows[0].ID, p); err != nil {
			return err
		}
	}
	return nil
}

// isTold reports whether an active instruction has the better workflow and the failing one.
func (k skill) isTold(active []memory.ActiveInstruction) bool {
	return k.better != nil && slices.ContainsFunc(active, func(i memory.ActiveInstruction) bool {
		return strings.Contains(i.Content, oneLine(k.better.Text)) && strings.Contains(i.Content, oneLine(k.worst.Text))
	})
}

// byRule puts the better workflow first, and marks the failing one.
func (k skill) byRule() []memory.Ground {
	better, worst := oneLine(k.better.Text), oneLine(k.worst.Text)
	mark := "This has failed more often than it has worked: "
	if text.IsChinese(worst) {
		mark = "这样做失败多于成功："
	}
	return []memory.Ground{groundOf(k.name+": "+better, *k.better), groundOf(mark+worst, *k.worst)}
}

func groundOf(line string, w memory.Workflow) memory.Ground {
	g := memory.Ground{Line: line, Memories: []string{}}
	if w.MemoryID != "" {
		g.Memories = append(g.Memories, w.MemoryID)
	}
	return g
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// evidence is a line of a prompt: a workflow with its outcomes, or a note on one of them.
type evidence struct {
	Number    int    `json:"number"`
	Workflow  string `json:"workflow,omitempty"`
	Successes int    `json:"successes,omitempty"`
	Failures  int    `json:"failures,omitempty"`
	Of        int    `json:"of,omitempty"` // number of the workflow of a note
	Note      string `json:"note,omitempty"`
	Success   bool   `json:"success,omitempty"`

	of memory.Workflow
}

// Try has a model write the instruction of a skill from its workflows, and stores nothing. KindBadAnswer: no line of
// the answer can be kept.
func Try(ctx context.Context, chat llm.Chat, workflows []memory.Workflow) ([]memory.Ground, error) {
	var lines []evidence
	var texts []string
	for _, w := range workflows {
		lines = append(lines, evidence{
			Number: len(lines) + 1, Workflow: w.Text, Successes: w.Successes, Failures: w.Failures, of: w,
		})
		texts = append(texts, w.Text)
		of := len(lines)
		for _, n := range w.Notes {
			lines = append(lines, evidence{Number: len(lines) + 1, Of: of, Note: n.Note, Success: n.Success, of: w})
			texts = append(texts, n.Note)
		}
		if len(lines) > 3*maxSteps {
			break
		}
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return nil, err
	}
	return prompt.Ask(ctx, template, chat, strings.Join(texts, "\n"), quoted,
		func(answer *llm.Answer) ([]memory.Ground, error) { return parse(answer, lines) })
}

// parse reads an answer about evidence that was numbered from 1. A bad step is left out.
func parse(answer *llm.Answer, lines []evidence) (steps []memory.Ground, err error) {
	var reply struct {
		Steps llm.Items[struct {
			Text    string `json:"text"`
			Sources []int  `json:"sources"`
		}] `json:"steps"`
	}
	if err := answer.Decode(&reply); err != nil {
		return nil, err
	}
	var why []string
	for _, item := range reply.Steps {
		step, wrong := memory.Ground{Memories: []string{}}, ""
		if item.Err != nil {
			wrong = item.Err.Error()
		} else {
			step.Line = oneLine(item.Value.Text)
			wrong = check(&step, item.Value.Sources, lines)
		}
		if wrong == "" && len(steps) == maxSteps {
			wrong = "is one too many"
		}
		if wrong != "" {
			why = append(why, "a step "+wrong)
			continue
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		return nil, llm.BadAnswer("the answer has no steps that can be kept: %s", strings.Join(why, "; "))
	}
	for _, w := range why {
		answer.Salvage("%s", w)
	}
	return steps, nil
}

// check returns what is wrong with a step, and adds the memories of what it cites.
func check(step *memory.Ground, cited []int, lines []evidence) string {
	if len(cited) == 0 {
		return "cites nothing"
	}
	var said []string
	for _, n := range cited {
		if n < 1 || n > len(lines) {
			return "cites a number that the evidence does not have"
		}
		e := lines[n-1]
		said = append(said, e.Workflow+e.Note)
		if id := e.of.MemoryID; id != "" && !slices.Contains(step.Memories, id) {
			step.Memories = append(step.Memories, id)
		}
		if e.Failures > e.Successes && prompt.Wording(step.Line) == prompt.Wording(e.Workflow) {
			return "is the workflow that fails"
		}
	}
	if why := template.Check(step.Line, maxStep, strings.Join(said, "\n")); why != "" {
		return why
	}
	invented := grounding.Read(grounding.Texts(said...)...).Uncounted().Invented(step.Line)
	if len(invented) > 0 {
		return "adds " + strings.Join(invented, ", ") + ", which the evidence does not have"
	}
	return ""
}
