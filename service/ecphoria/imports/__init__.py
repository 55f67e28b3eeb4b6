"""Reading files of episodes, and exports of other products."""
