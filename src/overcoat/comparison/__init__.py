"""Comparing methods and policies on one data set: runs, their measures, tables and plots."""
