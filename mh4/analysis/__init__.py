"""Measures of trees and of parsers: scores, comparisons, coverage of classes of trees."""
