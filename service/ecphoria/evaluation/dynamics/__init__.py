"""How memory behaves over time and use, measured on generated data: `ecphoria eval dynamics`."""
