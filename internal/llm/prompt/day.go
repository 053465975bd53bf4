package prompt

// Day is the layout of a date in a prompt. Models resolve "next Friday" by the weekday.
const Day = "2006-01-02, Monday"
